"""What a collection on a Weaviate server consists of, and what is checked before it is used.

The schema is given in full, so nothing is left to a server's guess: text that is searched is split at white space alone
and without stop words, as :mod:`simuverse.memory.analysis` has done the rest; vectors are ours; the index is ``flat``,
exact and on disk. Whose a collection is and what made its vectors stands in its description, as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from simuverse.errors import StoreMismatch
from simuverse.memory.keyword_index import K1, B
from simuverse.memory.stores.weaviate_address import Address

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.config import CollectionConfig, Property, ReplicationConfigCreate

VECTOR = "default"
"""Name of the one vector of an object."""

FORMAT = 1
"""Of properties, records and search tokens. A change that an older version would misread takes the next number."""

SHARDS = 1
"""Of a collection. A server makes one a node by itself, and each scores words by its own memories alone."""

PROGRAM = "simuverse"

_TEXTS = ("search_text", "context_text")
_EXACT = ("category", "source", "episode")
_NUMBERS = ("created_at", "importance", "position")
_LENGTHS = ("search_length", "context_length")
_FLAGS = ("superseded", "forgotten")


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """Whose a collection is, and what made its vectors.

    Args:
        owner: empty where each tenant is another's.
    """

    owner: str
    embedder: str
    dimension: int
    format: int = FORMAT
    program: str = PROGRAM

    def written(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def read(cls, description: str | None) -> Marks | None:
        """None: no description of ours."""
        try:
            marks = msgspec.json.decode(description or "", type=Marks)
        except msgspec.MsgspecError:
            return None
        return marks if marks.program == PROGRAM else None


async def create(
    client: WeaviateAsyncClient, name: str, marks: Marks, *, tenants: bool = False, replication: int | None = None
) -> None:
    """Args:
        tenants: each is to be made by hand, so that no slip in a name makes one.
        replication: nodes that hold each object; None leaves it to the server.

    Raises:
    weaviate.exceptions.WeaviateBaseError: also where the collection is there by now, with status 422.
    """
    from weaviate.classes.config import Configure, StopwordsPreset, VectorDistances

    await client.collections.create(
        name,
        description=marks.written(),
        properties=_properties(),
        vector_config=Configure.Vectors.self_provided(
            vector_index_config=Configure.VectorIndex.flat(distance_metric=VectorDistances.COSINE)
        ),
        inverted_index_config=Configure.inverted_index(bm25_b=B, bm25_k1=K1, stopwords_preset=StopwordsPreset.NONE),
        multi_tenancy_config=Configure.multi_tenancy() if tenants else None,
        # A tenant is a shard anyway.
        sharding_config=None if tenants else Configure.sharding(desired_count=SHARDS),
        replication_config=None if replication is None else _replication(replication),
    )


def _replication(factor: int) -> ReplicationConfigCreate:
    from weaviate.classes.config import Configure, ReplicationDeletionStrategy

    # What was erased while a node was away must not come back from it.
    latest = ReplicationDeletionStrategy.TIME_BASED_RESOLUTION
    return Configure.replication(factor=factor, deletion_strategy=latest)


def check(
    config: CollectionConfig, expected: Marks, address: Address, *, tenants: bool = False, ranked: bool = True
) -> None:
    """Args:
        address: of its server, for messages.
        ranked: whether searches are to rank as on any store.

    Raises:
        StoreMismatch: another program's, a newer version's, another embedder's, or changed since it was made.
    """
    where = f"Collection {config.name} at {address.url}"
    marks = Marks.read(config.description)
    if marks is None or marks.owner != expected.owner:
        raise StoreMismatch(
            f"{where} was made by something else than Simu-Verse; rename or delete it there, or name another server."
        )
    if marks.format > FORMAT:
        raise StoreMismatch(
            f"{where} was written by a newer Simu-Verse (format {marks.format}, this one reads up to {FORMAT}). "
            "Upgrade with: pip install --upgrade simu-verse"
        )
    if (marks.embedder, marks.dimension) != (expected.embedder, expected.dimension):
        raise StoreMismatch(
            f"{where} holds vectors of the embedder {marks.embedder} ({marks.dimension} numbers), and "
            f"{expected.embedder} ({expected.dimension} numbers) is in use. "
            f"Go on with --embedder {marks.embedder}, or compute the vectors anew with: "
            f"simuverse store reembed weaviate:{address.url} --embedder {expected.embedder}"
        )
    different = _differences(config)
    if config.multi_tenancy_config.enabled != tenants:
        different.append("it has no tenants" if tenants else "it has tenants")
    if different:
        raise StoreMismatch(
            f"{where} has another schema than Simu-Verse gave it ({'; '.join(different)}); export what it holds, "
            "delete it and let it be made anew."
        )
    sharding = config.sharding_config
    if ranked and sharding is not None and sharding.actual_count != SHARDS:
        raise StoreMismatch(
            f"{where} has {sharding.actual_count} shards, each of which scores words by itself, so searches would find "
            f"in another order than elsewhere. Make it anew with: simuverse store rebuild weaviate:{address.url}"
        )


def _differences(config: CollectionConfig) -> list[str]:
    from weaviate.classes.config import StopwordsPreset, VectorDistances

    found = {
        one.name: (one.data_type, one.tokenization, one.index_filterable, one.index_searchable)
        for one in config.properties
    }
    differences: list[str] = []
    for wanted in _properties():
        if wanted.name not in found:
            differences.append(f"{wanted.name} is missing")
        elif found[wanted.name] != _shape(wanted):
            differences.append(f"{wanted.name} is indexed otherwise")
    vector = (config.vector_config or {}).get(VECTOR)
    metric = getattr(vector.vector_index_config, "distance_metric", None) if vector is not None else None
    if metric != VectorDistances.COSINE:
        differences.append("its vectors aren't compared by cosine")
    inverted = config.inverted_index_config
    if inverted.stopwords.preset != StopwordsPreset.NONE or (inverted.bm25.b, inverted.bm25.k1) != (B, K1):
        differences.append("its keyword search is set otherwise")
    return differences


def _shape(wanted: Property) -> tuple[object, ...]:
    """As the server tells it: only text is searchable, and what isn't said is filterable and searchable."""
    from weaviate.classes.config import DataType

    searchable = wanted.dataType == DataType.TEXT and wanted.indexSearchable is not False
    return (wanted.dataType, wanted.tokenization, wanted.indexFilterable is not False, searchable)


def _properties() -> list[Property]:
    from weaviate.classes.config import DataType, Property, Tokenization

    return [
        Property(
            name="record",
            data_type=DataType.TEXT,
            tokenization=Tokenization.FIELD,
            index_filterable=False,
            index_searchable=False,
        ),
        *(Property(name=name, data_type=DataType.TEXT, tokenization=Tokenization.WHITESPACE) for name in _TEXTS),
        *(
            Property(name=name, data_type=DataType.TEXT, tokenization=Tokenization.FIELD, index_searchable=False)
            for name in _EXACT
        ),
        *(Property(name=name, data_type=DataType.INT, index_range_filters=True) for name in _NUMBERS),
        # Sums are counted from the index, so these need one too.
        *(Property(name=name, data_type=DataType.INT) for name in _LENGTHS),
        *(Property(name=name, data_type=DataType.BOOL) for name in _FLAGS),
    ]
