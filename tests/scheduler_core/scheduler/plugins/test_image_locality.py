import pytest

from scheduler_core.testing.builders import NodeBuilder, make_node, make_pod, make_table
from tests.support.drive import make_plugin, score_nodes

MIB = 1024 * 1024


def with_image(node: NodeBuilder, name: str, size: int) -> NodeBuilder:
    """The node with an image, with its tag, of so many bytes."""
    manifest = node.manifest()
    manifest["status"]["images"] = [{"names": [name], "sizeBytes": size}]
    return NodeBuilder(manifest)


@pytest.mark.parametrize(
    ("mib", "score"),
    [(22, 0), (46, 0), (1000, 48), (2000, 100), (4000, 100)],
    ids=["below the lower bound", "at the lower bound once spread", "half spread", "upper bound", "above it"],
)
def test_an_image_on_one_of_two_nodes_counts_half_its_size(mib: int, score: int) -> None:
    nodes = make_table([with_image(make_node("a"), "app:v1", mib * MIB), make_node("b")])
    assert score_nodes(make_plugin("ImageLocality"), make_pod("p").pod(), nodes) == {"a": score, "b": 0}


def test_an_image_without_a_tag_means_latest() -> None:
    nodes = make_table([with_image(make_node("a"), "reg:5000/app:latest", 500 * MIB)])
    pod = make_pod("p").image("reg:5000/app").pod()
    assert score_nodes(make_plugin("ImageLocality"), pod, nodes) == {"a": 48}


def test_init_containers_count_in_the_sum_and_in_the_bound() -> None:
    nodes = make_table([with_image(make_node("a"), "app:v1", 1000 * MIB)])
    plugin = make_plugin("ImageLocality")
    assert score_nodes(plugin, make_pod("p").init_container("i").pod(), nodes) == {"a": 100}
    assert score_nodes(plugin, make_pod("p").init_container("i", "other:v1").pod(), nodes) == {"a": 49}


def test_a_pod_whose_images_nobody_has_scores_nothing() -> None:
    nodes = make_table([make_node("a")])
    assert score_nodes(make_plugin("ImageLocality"), make_pod("p").pod(), nodes) == {"a": 0}
