"""The functions and kinds of expressions that a statement may have, by the names that DuckDB gives them."""

_OPERATORS = (
    "+ - * / // % ** ^ & | || ~ << >> ! != = < <= > >= ~~ !~~ ~~~ ~~* !~~* like_escape ilike_escape "
    "not_like_escape not_ilike_escape")
_AGGREGATES = (
    "count count_star count_if countif sum avg mean min max median mode quantile quantile_cont quantile_disc stddev "
    "stddev_samp stddev_pop variance var_samp var_pop corr covar_pop covar_samp regr_slope regr_intercept regr_r2 "
    "first last any_value arbitrary arg_min arg_max argmin argmax min_by max_by bool_and bool_or product fsum favg "
    "kahan_sum sumkahan approx_count_distinct skewness kurtosis mad geomean geometric_mean entropy")
_WINDOWS = "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value"
_NUMBERS = (
    "abs ceil ceiling floor round round_even trunc sqrt cbrt ln log log2 log10 exp pow power mod fmod sign greatest "
    "least pi degrees radians sin cos tan asin acos atan atan2 isnan isinf isfinite even gcd lcm fdiv add subtract "
    "multiply divide")
_TEXTS = (
    "lower upper lcase ucase length len strlen char_length character_length trim ltrim rtrim substring substr left "
    "right strpos position instr contains starts_with ends_with prefix suffix regexp_matches regexp_extract "
    "regexp_extract_all regexp_full_match split_part string_split str_split split string_split_regex string_to_array "
    "replace strip_accents reverse translate nfc_normalize ascii ord unicode typeof")
_DATES = (
    "year month day hour minute second quarter week weekday dayofweek dayofmonth dayofyear isodow isoyear weekofyear "
    "yearweek decade century date_part datepart date_trunc datetrunc date_diff datediff date_sub datesub date_add "
    "strftime strptime try_strptime make_date make_timestamp dayname monthname last_day age to_days to_weeks to_months "
    "to_quarters to_years to_hours to_minutes to_seconds epoch epoch_ms today now current_date current_localtimestamp "
    "get_current_timestamp time_bucket julian")
_LISTS = (
    "list_contains list_has array_contains array_has list_has_any list_has_all array_has_any "
    "array_has_all list_distinct list_unique list_sort list_reverse_sort array_length list_extract list_element "
    "array_extract list_filter array_filter filter list_where flatten list_reverse array_reverse list_median list_mode "
    "list_position "
    "list_indexof array_position list_slice array_slice list_intersect list_sum list_avg list_min list_max list_count "
    "list_first list_last list_any_value unnest cardinality struct_extract struct_extract_at")
_CONDITIONS = "if ifnull nullif coalesce"
_FEW = (
    "|| concat concat_ws string_agg group_concat listagg list array_agg array_to_string regexp_replace list_value "
    "list_pack struct_pack row list_transform array_transform list_apply array_apply apply list_concat list_cat "
    "array_concat array_cat list_append array_append list_zip array_zip")
FEW = frozenset(_FEW.split())
"""Functions whose results can be larger than what they are given. A statement has few of them, so that nested ones
cannot fill the memory, and none where a statement repeats itself."""
FUNCTIONS = FEW.union(*(part.split() for part in (
    _OPERATORS, _AGGREGATES, _WINDOWS, _NUMBERS, _TEXTS, _DATES, _LISTS, _CONDITIONS)))
SERIES = frozenset({"unnest", "generate_series", "range"})
"""The functions that may stand where a table stands."""
EXPRESSIONS = frozenset({
    "COLUMN_REF", "CONSTANT", "FUNCTION", "COMPARISON", "CONJUNCTION", "OPERATOR", "CASE", "CAST", "BETWEEN", "STAR",
    "SUBQUERY", "WINDOW", "LAMBDA", "LAMBDA_REF", "POSITIONAL_REFERENCE", "TYPE"})
TABLES = frozenset({"BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EMPTY", "EXPRESSION_LIST"})
NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
