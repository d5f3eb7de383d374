"""A self-made certificate, for browsers that give sensors and headsets to secure pages only."""

import contextlib
import datetime
import ipaddress
import socket
from pathlib import Path

from ..author.errors import ModelError

LIFETIME = datetime.timedelta(days=30)


def make_certificate(folder: Path, hosts: list[str]) -> tuple[Path, Path, str]:
    """Write a certificate for these hosts and its key into a folder; also its SHA-256 fingerprint."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError as error:
        raise ModelError(
            "studio: a self-made certificate needs the package 'cryptography'; pip install 'impulsar[tls]', "
            "or give --cert and --key"
        ) from error
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Impulsar studio")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectAlternativeName([_name(host) for host in hosts]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "certificate.pem", folder / "key.pem"
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.touch(mode=0o600)
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate_file, key_file, certificate.fingerprint(hashes.SHA256()).hex(":")


def _name(host: str):
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def machine_names() -> list[str]:
    """Names and addresses by which others may call this machine."""
    name = socket.gethostname()
    found = {name, f"{name}.local", "localhost", "127.0.0.1"}
    with contextlib.suppress(OSError):  # of a machine that does not know its own name
        found |= {str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(name, None)}
    return sorted(found)
