"""What models cost: the price file, and the cost of tokens."""


import pytest
from banyan.schemas.prices import Price, Prices, PricesError, batched, load_prices
from hypothesis import given
from hypothesis import strategies as st

DEAR, CHEAP = Price(prompt=10, cached=1, completion=30), Price(prompt=2, completion=4)
PRICES = Prices({"dear": DEAR, "cheap": CHEAP})


def test_a_cost_counts_cached_tokens_at_their_own_price():
    assert PRICES.cost("dear", 1_000_000, 0, 400_000) == pytest.approx(6 + 0.4)
    assert PRICES.cost("cheap", 1_000_000, 500_000, 400_000) == pytest.approx(2 + 2), "no other price is said"
    assert PRICES.cost("other", 1, 0) is None
    assert PRICES.cost("other", 0, 0) == 0


def test_a_batch_costs_half_unless_it_has_a_price_of_its_own():
    assert PRICES.cost(batched("dear"), 1_000_000, 1_000_000, 400_000) == pytest.approx((6 + 0.4 + 30) / 2)
    assert PRICES.cost(batched("other"), 1, 0) is None
    own = Prices({"dear": DEAR, batched("dear"): CHEAP})
    assert own.cost(batched("dear"), 1_000_000, 0) == pytest.approx(2)


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_cost_grows_with_each_kind_of_token_and_not_with_what_is_cached(prompt, completion, more):
    cost = PRICES.cost("dear", prompt, completion)
    assert PRICES.cost("dear", prompt + more, completion) >= cost
    assert PRICES.cost("dear", prompt, completion + more) >= cost
    assert PRICES.cost("dear", prompt, completion, min(more, prompt)) <= cost


def test_a_price_file_is_read(tmp_path):
    file = tmp_path / "prices.json"
    file.write_text('{"m": {"prompt": 0.15, "cached": 0.075, "completion": 0.6}, '
                    '"free": {"prompt": 0, "completion": 0}}')
    prices = load_prices(file)
    assert ("m" in prices, "other" in prices) == (True, False)
    assert prices.cost("m", 1_000_000, 1_000_000, 1_000_000) == pytest.approx(0.675)
    assert prices.cost("free", 5, 5) == 0
    assert load_prices(None).cost("m", 1, 1) is None


@pytest.mark.parametrize(("text", "said"), [
    ("{", "Invalid JSON"), ('{"m": {"prompt": 1}}', "m.completion: Field required"),
    ('{"m": {"prompt": 1, "completion": 1, "promt": 3}}', "m.promt"),
    ('{"m": {"prompt": NaN, "completion": 1}}', "m.prompt")])
def test_what_is_wrong_with_a_price_file_is_said(tmp_path, text, said):
    file = tmp_path / "prices.json"
    file.write_text(text)
    with pytest.raises(PricesError) as raised:
        load_prices(file)
    assert said in str(raised.value)
    assert "prices.json" in str(raised.value)
    assert "BANYAN_PRICES" in str(raised.value)
