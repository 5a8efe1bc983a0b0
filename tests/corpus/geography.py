"""Row functions over places."""

from __future__ import annotations

import math
import re
from math import asin, atan2, cos, degrees, pi, radians, sin, sqrt
from typing import NamedTuple

from . import values
from .case import case

EARTH = 6371.0088
BOXES = [
    ("Paris", 48.815, 48.902, 2.224, 2.470),
    ("Berlin", 52.338, 52.675, 13.088, 13.761),
    ("northern", 0.0, 90.0, -180.0, 180.0),
]
WINDS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
BASE32 = "0123456789bcdefghjkmnpqrstuvwxyz"


class Point(NamedTuple):
    x: float
    y: float


@case(
    rows=[values.latitudes(1), values.longitudes(1), values.latitudes(2), values.longitudes(2)],
    covers="trigonometry, haversine",
)
def haversine(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    lat1, lon1, lat2, lon2 = map(radians, (lat1, lon1, lat2, lon2))
    h = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH * asin(sqrt(min(1.0, h)))


@case(
    rows=[values.latitudes(3), values.longitudes(3)], covers="loop over constant tuples, unpacking"
)
def region(lat: float, lon: float) -> str:
    for name, south, north, west, east in BOXES:
        if south <= lat <= north and west <= lon <= east:
            return name
    return "elsewhere"


@case(rows=[values.coordinates(4)], covers="regular expression, floats, sign")
def decimal_degrees(text: str) -> float | None:
    m = re.fullmatch(r"(\d+)d(\d+)'(\d+)\"([NSEW])", text)
    if m is None:
        return None
    d, minutes, seconds, side = m.groups()
    value = int(d) + int(minutes) / 60 + int(seconds) / 3600
    return -value if side in "SW" else value


@case(rows=[values.coordinates(5)], covers="find and slices, int that may raise", raises=True)
def whole_degrees(text: str) -> int:
    return int(text[: text.find("d")])


@case(rows=[values.latitudes(6)], covers="divmod of floats, f-string, guard for nan")
def dms(angle: float) -> str:
    if math.isnan(angle):
        return "?"
    side = "S" if angle < 0 else "N"
    minutes, seconds = divmod(abs(angle) * 3600, 60)
    d, minutes = divmod(minutes, 60)
    return f"{d:.0f}°{minutes:02.0f}'{seconds:04.1f}\"{side}"


@case(rows=[values.reals(7, -720, 720)], covers="float modulo of a negative number")
def normal_heading(angle: float) -> float:
    return angle % 360


@case(rows=[values.reals(8, 0, 360)], covers="index of a constant tuple by int of float")
def wind(angle: float) -> str:
    return WINDS[int((angle + 22.5) // 45) % 8]


@case(
    rows=[values.latitudes(9), values.longitudes(9), values.latitudes(10), values.longitudes(10)],
    covers="atan2, degrees, modulo",
)
def bearing(lat1, lon1, lat2, lon2):
    p1, p2 = radians(lat1), radians(lat2)
    dl = radians(lon2 - lon1)
    y = sin(dl) * cos(p2)
    x = cos(p1) * sin(p2) - sin(p1) * cos(p2) * cos(dl)
    return (degrees(atan2(y, x)) + 360) % 360


@case(
    rows=[values.latitudes(11), values.longitudes(11)],
    covers="NamedTuple result, log and tan, clamp",
)
def mercator(lat: float, lon: float) -> Point:
    lat = max(min(lat, 85.0), -85.0)
    return Point(lon * 20037508.34 / 180, math.log(math.tan((90 + lat) * pi / 360)) * 6378137)


@case(
    rows=[values.reals(12, -85, 85), values.reals(12, -179, 179), values.between(12, 0, 18)],
    covers="1 << zoom, int of float, tuple result",
)
def tile(lat: float, lon: float, zoom: int) -> tuple[int, int]:
    n = 1 << zoom
    x = int((lon + 180) / 360 * n)
    y = int((1 - math.asinh(math.tan(radians(lat))) / pi) / 2 * n)
    return x, y


@case(
    rows=[values.reals(13, -90, 90), values.reals(13, -180, 180)],
    covers="while, bits, text by index",
)
def geohash(lat: float, lon: float) -> str:
    lat_low, lat_high, lon_low, lon_high = -90.0, 90.0, -180.0, 180.0
    code, bits, value, even = "", 0, 0, True
    while len(code) < 6:
        if even:
            middle = (lon_low + lon_high) / 2
            value = value * 2 + (lon >= middle)
            lon_low, lon_high = (middle, lon_high) if lon >= middle else (lon_low, middle)
        else:
            middle = (lat_low + lat_high) / 2
            value = value * 2 + (lat >= middle)
            lat_low, lat_high = (middle, lat_high) if lat >= middle else (lat_low, middle)
        even = not even
        bits += 1
        if bits == 5:
            code += BASE32[value]
            bits = value = 0
    return code


@case(rows=[values.latitudes(14), values.longitudes(14)], covers="round, str of float, text join")
def well_known_text(lat: float, lon: float) -> str:
    return "POINT (" + str(round(lon, 4)) + " " + str(round(lat, 4)) + ")"


@case(
    rows=[values.texts(15, lambda r: f"{r.uniform(-90, 90):.4f}, {r.uniform(-180, 180):.4f}")],
    covers="split, float, try/except, tuple or None",
)
def parsed_pair(text: str) -> tuple[float, float] | None:
    try:
        lat, lon = text.split(",")
        return float(lat), float(lon)
    except ValueError:
        return None


@case(
    rows=[values.texts(16, lambda r: f"POINT ({r.randint(-180, 180)} {r.randint(-90, 90)})")],
    covers="startswith, slices, index that may raise",
    raises=True,
)
def longitude_of_point(text: str) -> float:
    if not text:
        return 0.0
    inside = text[text.index("(") + 1 : text.index(")")]
    return float(inside.split()[0])


@case(
    rows=[values.reals(17, -20, 20), values.reals(18, -20, 20)],
    covers="math.hypot, tuple comparison",
)
def nearest_corner(x: float, y: float) -> str:
    corners = {"a": (0.0, 0.0), "b": (10.0, 0.0), "c": (10.0, 10.0)}
    best, least = "", math.inf
    for name, (cx, cy) in corners.items():
        d = math.hypot(x - cx, y - cy)
        if d < least:
            best, least = name, d
    return best


@case(
    rows=[values.reals(19, 0, 10), values.reals(20, 0, 10)],
    covers="zip of a polygon and its rotation",
)
def in_polygon(x: float, y: float) -> bool:
    polygon = [(1.0, 1.0), (9.0, 2.0), (7.0, 8.0), (2.0, 6.0)]
    inside = False
    for (x1, y1), (x2, y2) in zip(polygon, polygon[1:] + polygon[:1]):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside


@case(rows=[values.reals(21, -60, 60, (-0.0,))], covers="float formatting with a sign")
def temperature(celsius: float) -> str:
    return f"{celsius:+.1f} °C / {celsius * 9 / 5 + 32:+.1f} °F"
