"""Money: prices, rates, instalments."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd

from .case import case

RATES = {"DE": 1.19, "FR": 1.2, "GB": 1.2}
CURRENCY = pd.Series({"DE": "EUR", "FR": "EUR", "us": "USD"})


@case("double", price="price", quantity="count")
def net(price: pd.Series, quantity: pd.Series) -> pd.Series:
    return (price * quantity * 0.81).round(2)


@case("double", price="price", rate="share")
def discounted(price: pd.Series, rate: pd.Series) -> pd.Series:
    return pd.Series(np.where(rate > 0.5, price * 0.5, price * (1 - rate)))


@case("double", principal="price", rate="share", years="count")
def compound(principal: pd.Series, rate: pd.Series, years: pd.Series) -> pd.Series:
    return principal * (1 + rate / 12) ** (12 * years)


@case("double", principal="price", rate="share")
def annuity(principal: pd.Series, rate: pd.Series) -> pd.Series:
    monthly = rate / 12
    factor = (1 + monthly) ** -360
    paid = np.where(monthly == 0, principal / 360, principal * monthly / (1 - factor))
    return pd.Series(paid)


@case("double", price="price", country="country")
def gross(price: pd.Series, country: pd.Series) -> pd.Series:
    return price * country.str.strip().map(RATES).fillna(1.0)


@case("string", country="country")
def currency(country: pd.Series) -> pd.Series:
    return country.map(CURRENCY).fillna("XXX")


@case("double", income="price")
def tax(income: pd.Series) -> pd.Series:
    def bracket(x):
        if x < 20:
            return 0.0
        if x < 80:
            return (x - 20) * 0.2
        return 12 + (x - 80) * 0.42

    return income.apply(bracket)


@case("string", score="amount")
def rating(score: pd.Series) -> pd.Series:
    return score.apply(lambda s: "AAA" if s > 150 else ("BB" if s > 50 else "D"))


@case("double", money="money")
def as_float(money: pd.Series) -> pd.Series:
    return money.astype(float) * 1.05


@case("decimal(14,2)", money="money")
def half_up(money: pd.Series) -> pd.Series:
    return money.apply(lambda d: (d * 2).quantize(Decimal("0.01"), "ROUND_HALF_UP"))


@case("decimal(14,2)", money="money")
def doubled(money: pd.Series) -> pd.Series:
    return money * 2


@case("double", pnl="amount", notional="price")
def basis_points(pnl: pd.Series, notional: pd.Series) -> pd.Series:
    result = pnl / notional * 10_000
    return result.where(np.isfinite(result), 0.0)


@case("string", pnl="amount")
def arrow_of(pnl: pd.Series) -> pd.Series:
    return pd.Series(np.where(pnl > 0, "up", np.where(pnl < 0, "down", "flat")))


@case("double", text="number_text")
def parsed_amount(text: pd.Series) -> pd.Series:
    return text.str.replace("$", "", regex=False).str.replace(",", "").astype(float)


@case("double", text="plain_number_text")
def coerced(text: pd.Series) -> pd.Series:
    return pd.to_numeric(text, errors="coerce")


@case("double", text="plain_number_text")
def coerced_filled(text: pd.Series) -> pd.Series:
    return pd.to_numeric(text, errors="coerce").fillna(0).round(1)


@case("string", amount="price", country="country")
def label(amount: pd.Series, country: pd.Series) -> pd.Series:
    return country.str.strip() + ": " + amount.round(2).astype(str)


@case("boolean", amount="price", country="country")
def suspicious(amount: pd.Series, country: pd.Series) -> pd.Series:
    return (amount > 100) & ~country.isin(["DE", "FR"])


@case("double", spot="price", vol="share")
def option_d1(spot: pd.Series, vol: pd.Series) -> pd.Series:
    return (np.log(spot / 100) + (0.01 + vol**2 / 2)) / vol.mask(vol == 0)


@case("double", a="amount", b="price")
def change(a: pd.Series, b: pd.Series) -> pd.Series:
    return ((a - b) / b.abs()).replace([np.inf, -np.inf], np.nan)


@case("double", x="amount")
def momentum(x: pd.Series) -> pd.Series:
    return x - x.shift(1)
