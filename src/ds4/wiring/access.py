"""Who may call, and over what."""

import ipaddress
import ssl

from ds4.api.access import Access
from ds4.api.keys import Keyring
from ds4.api.origin import Hosts
from ds4.api.tls import server_context
from ds4.config import Config
from ds4.config.keyfile import read_key_file
from ds4.observe.records import Notice, Observer


def access(config: Config, observe: Observer) -> Access:
    """Who may call; what is risky about it is logged. Raises StartError."""
    keys = config.api_keys
    if config.api_key_file is not None:
        file = read_key_file(config.api_key_file)
        keys += file.keys
        if file.exposed:
            observe(Notice(f"{config.api_key_file} is open to every user of this machine", "warning"))
    beyond = not ipaddress.ip_address(config.host).is_loopback
    if beyond and not keys:
        words = f"listening on {config.host} without API keys: whoever can reach it can use it"
        observe(Notice(words, "warning"))
    # A page that comes under a name of its own has no key. On loopback the second lock costs nobody anything.
    hosts = Hosts(frozenset(config.allow_hosts), any_name=beyond and bool(keys))
    return Access(hosts, Keyring.of(key.text for key in keys), cors=config.cors)


def tls(config: Config) -> ssl.SSLContext | None:
    """None for plain HTTP. Raises StartError."""
    if config.tls_cert is None or config.tls_key is None:
        return None
    return server_context(config.tls_cert, config.tls_key)
