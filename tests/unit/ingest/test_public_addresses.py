"""Which IP addresses are of the public network: none that stands for another one."""

import pytest
from banyan.ingest.fetching import is_public


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "8.8.8.8"])
def test_machines_of_the_public_network_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize("address", [
    "127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1", "239.1.1.1", "255.255.255.255",
    "::1", "::", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "ff0e::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8",
    "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a00:1::1",
    "2001:0:7f00:1::", "::ffff:0:10.0.0.1"])
def test_all_others_are_not(address):
    assert not is_public(address)
