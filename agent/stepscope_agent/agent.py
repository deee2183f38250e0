"""Assembles the parts that the settings require."""

from typing import Any

from .engine_routers import EngineRouters
from .layers import LayerRanges
from .log import reason, say_once
from .routers import Routers
from .session import Session
from .settings import Settings
from .sources import Sources


def start(settings: Settings) -> Session:
    session = Session(settings)
    sources = Sources(session, session.graphs)
    layers = LayerRanges(session, session.graphs)
    routers = None
    if settings.perfect_router or session.experts is not None:
        routers = Routers(settings, session.experts)
    if session.experts is not None:
        session.experts.name_of = layers.names.get

    def on_model(model: Any) -> None:
        for watch in (layers.watch, *([routers.watch] if routers else [])):
            try:
                watch(model)
            except Exception as error:
                say_once("some parts of the model are not tracked: %s" % reason(error))

    sources.on_model = on_model
    if settings.watches_steps:
        session.install()
    if routers:
        routers.install()
        EngineRouters(settings, session.experts).install()
    if settings.watches_steps or routers:
        sources.install()
    return session
