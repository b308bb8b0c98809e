"""Security headers of every answer: nothing from elsewhere, no frame, no guessing of types."""

_POLICY = (
    "default-src 'none'",
    "script-src 'self'",  # guards: own-scripts
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",  # guards: no-frames
    "require-trusted-types-for 'script'",  # guards: no-html
    "trusted-types lit-html",
)
"""Content security policy of the page; `lit-html` is the policy of the one library that makes HTML,
from the templates in the page's own source alone."""

PAGE_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", "; ".join(_POLICY).encode()),
    (b"x-content-type-options", b"nosniff"),  # guards: no-sniffing
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), usb=()"),
    (b"cache-control", b"no-cache"),  # a new version of rook has new files
)
"""Headers of every answer that is a file of the page."""

DATA_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),  # a browser keeps no copy on disk
)
"""Headers of every answer that is data: never shown as a page, so that few are enough."""
