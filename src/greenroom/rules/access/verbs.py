"""What can be done to a credential, for every door."""

from greenroom.rules.access.model import RevokeCredential
from greenroom.rules.verb import CliVerb, Verb

CREDENTIAL_VERBS = (
    Verb(
        RevokeCredential,
        "DELETE",
        "/api/credentials/{credential_id}",
        "operate",
        "Revoke a credential at once, on open connections too",
        sets={"reason": "revoked by an operator"},
        cli=CliVerb("token revoke", "{id} is ended.", "cred_3kq0...", kind="cred"),
    ),
)
