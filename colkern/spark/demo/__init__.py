"""The main job: three functions over TPC-H's `lineitem`, each with pandas, pyarrow and colkern."""
