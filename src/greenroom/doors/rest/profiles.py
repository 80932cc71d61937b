"""Profiles over REST: list, change and check them."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.verbs import build_verb_endpoints
from greenroom.doors.rest.wire import build_json_response, read_body, read_json_response, read_query
from greenroom.errors import Refused
from greenroom.json_types import JsonObject
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.profiles import (
    Profile,
    PutProfile,
    explain_definition_error,
    find_profile_problems,
    find_profiles,
    need_profile,
    read_definition,
)
from greenroom.rules.agents.verbs import PROFILE_VERBS
from greenroom.rules.agents.wrong_profiles import WrongFile, find_wrong_profiles
from greenroom.rules.runs.queries import is_invitable
from greenroom.runtimes.agent_cli import SamplePrompts
from greenroom.runtimes.driver_list import DRIVER_INFOS
from greenroom.sentences import Sentence, Words
from greenroom.services.hub import Hub
from greenroom.services.node_links import NodeLinks
from greenroom.services.profile_health import ProfileHealth, check_profile_health
from greenroom.validation import build_named_problem


class ListedProfile(msgspec.Struct):
    name: str
    display_name: str
    description: Words
    driver: str
    enabled: bool
    source: str
    is_invitable: bool
    samples: SamplePrompts | None = None
    """Set if its agents follow a script."""
    sentences: dict[str, Sentence] = {}


async def list_profiles(hub: Hub, by: Principal, request: Request) -> Response:
    if by.is_confined:
        return build_json_response([])
    return await read_json_response(
        hub, lambda rows: [_build_listed_profile(rows, profile) for profile in find_profiles(rows)]
    )


def _build_listed_profile(rows: Rows, profile: Profile) -> ListedProfile:
    definition = profile.definition
    driver = DRIVER_INFOS.get(definition.driver)
    return ListedProfile(
        name=profile.name,
        display_name=definition.display_name or profile.name,
        description=definition.description,
        driver=definition.driver,
        enabled=definition.enabled,
        source=profile.source,
        is_invitable=is_invitable(rows, profile),
        samples=driver.samples if driver else None,
    )


async def list_wrong_files(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response([] if by.is_confined else find_wrong_profiles(hub.rows))


async def show_profile(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response(need_profile(hub.rows, request.path_params["name"]))


_MOST_WRONG = 20


class Bundle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Several profiles at once, by name; each as in a file of its own."""

    profiles: dict[str, JsonObject]


class ImportedProfiles(msgspec.Struct):
    names: list[str]


async def import_profiles(hub: Hub, by: Principal, request: Request) -> Response:
    """All of them, or none when one is wrong."""
    bundle = await read_body(request, Bundle)
    definitions, wrong = await hub.heavy_work.run(lambda: _read_bundle(bundle))
    if wrong:
        raise Refused("bad_profile.import", details={"problems": list(map(str, wrong))}, problems=wrong)
    for name, definition in definitions.items():
        await hub.log.do(PutProfile(by=by, name=name, definition=definition, source="bundle"))
    return build_json_response(ImportedProfiles(sorted(definitions)))


def _read_bundle(bundle: Bundle) -> tuple[dict[str, ProfileDefinition], list[Sentence]]:
    """The definitions, and what is wrong with the first of them."""
    wrong: list[Sentence] = []
    definitions = {}
    for name, fields in bundle.profiles.items():
        if len(wrong) >= _MOST_WRONG:
            break
        try:
            definitions[name] = read_definition(fields)
            wrong += [build_named_problem(name, one) for one in find_profile_problems(name, definitions[name])]
        except (msgspec.ValidationError, ValueError) as error:
            wrong.append(build_named_problem(name, explain_definition_error(error)))
    return definitions, wrong


class ProfileCheckQuery(msgspec.Struct, frozen=True, kw_only=True):
    name: str | None = None
    model: Annotated[str, Meta(max_length=200)] | None = None
    """Another model than the profile's own."""


class ProfileCheckResult(msgspec.Struct):
    """Whether each profile could start an agent now, and the files that are wrong: their last good version is used."""

    profiles: list[ProfileHealth]
    wrong_files: list[WrongFile]


class ProfileChecker:
    """Asks nodes."""

    def __init__(self, links: NodeLinks) -> None:
        self._links = links

    async def check(self, hub: Hub, by: Principal, request: Request) -> Response:
        query = read_query(request, ProfileCheckQuery)
        name = query.name
        chosen = find_profiles(hub.rows) if name is None else [need_profile(hub.rows, name)]
        wrong = [one for one in find_wrong_profiles(hub.rows) if name in (None, one.name)]
        looks = (check_profile_health(hub.rows, self._links, profile, hub.data, query.model) for profile in chosen)
        found = await asyncio.gather(*looks)
        return build_json_response(ProfileCheckResult(found, wrong))


_ONE = "/api/profiles/{name}"
ENDPOINTS = [
    Endpoint("GET", "/api/profiles", "read", list_profiles, "All profiles", answer=list[ListedProfile]),
    Endpoint(
        "POST",
        "/api/profiles",
        "operate",
        import_profiles,
        "Import a bundle of profiles",
        body=Bundle,
        answer=ImportedProfiles,
    ),
    Endpoint(
        "GET",
        "/api/profile-files",
        "read",
        list_wrong_files,
        "Profile files with errors: the key, and what to write",
        answer=list[WrongFile],
    ),
    Endpoint("GET", _ONE, "operate", show_profile, "One profile", answer=Profile),
    *build_verb_endpoints(PROFILE_VERBS),
]


def endpoints(links: NodeLinks) -> list[Endpoint]:
    return [
        *ENDPOINTS,
        Endpoint(
            "GET",
            "/api/profile-check",
            "operate",
            ProfileChecker(links).check,
            "Check whether profiles can start an agent, on each node that can run them, without starting one",
            query=ProfileCheckQuery,
            answer=ProfileCheckResult,
        ),
    ]
