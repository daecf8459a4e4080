"""What deploy/ says of an installation, as far as it can be checked without one; its manifests are scheduled by the playground itself."""

import re

import pytest
import yaml

from playground import VERSION
from tests.browser.server import ROOT

DEPLOY = ROOT / "deploy"
FILES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
TEXT = "\n---\n".join(path.read_text() for path in FILES)
MANIFESTS = list(yaml.safe_load_all(TEXT))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
NODE = """apiVersion: v1
kind: Node
metadata: {{name: node-{0}, labels: {{kubernetes.io/hostname: node-{0}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "20"}}}}
"""
NODES = "---\n".join(map(NODE.format, (1, 2)))


def manifest(kind, name="playground"):
    return next(each for each in MANIFESTS if (each["kind"], each["metadata"]["name"]) == (kind, name))


def accept(begun, text):
    """Import a text; the plan that was accepted."""
    answer = begun.post("import", text=text)
    plan = begun.browser.get(answer["Location"]).context["plan"]
    assert begun.post("import/apply", token=plan["token"]).status_code == 302
    return plan


def nodes_of(begun, component):
    """Where the pods are that were made for a component of the playground."""
    pods = [begun.manifest("Pod", name) for name in begun.objects("Pod")]
    chosen = [pod for pod in pods if component in pod["metadata"]["labels"].values()]
    return sorted(pod["spec"].get("nodeName", "") for pod in chosen)


def test_the_playground_schedules_its_own_manifests(visitor):
    begun = visitor("empty")
    accept(begun, NODES)
    plan = accept(begun, TEXT)
    ignored = [row.kind for row in plan["page"].rows if row.action != "created"]
    assert (plan["refused"], ignored) == (0, [])
    for _ in range(12):
        begun.post("step", grain="pod")
    assert nodes_of(begun, "server") == ["node-1", "node-2"]
    assert [len(nodes_of(begun, each)) for each in ("migrate", "playground-redis")] == [1, 1]
    assert "" not in nodes_of(begun, "migrate") + nodes_of(begun, "playground-redis")


def test_the_service_and_the_budget_are_about_the_servers():
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert manifest("Service")["spec"]["selector"] == labels
    assert manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels


def test_a_server_is_ready_while_its_health_says_so(client, transactional_db):
    (server,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    probe = server["readinessProbe"]["httpGet"]
    assert client.get(probe["path"], headers={"Host": "10.244.1.7:8000"}).status_code == 200  # the pod's address


def test_a_server_has_time_to_end():
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    (server,) = pod["containers"]
    before = int(server["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] >= before + 20
    assert COMPOSE["services"]["server-1"]["stop_grace_period"] == "30s"


def test_what_is_set_is_a_setting():
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE))
    manifests = {**manifest("ConfigMap")["data"], **manifest("Secret")["stringData"]}
    servers = [COMPOSE["services"][name] for name in ("server-1", "server-2", "migrate")]
    for environment in (manifests, *(server["environment"] for server in servers)):
        assert set(environment) - documented == set()
        assert {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"} <= set(environment)


def test_the_images_are_of_this_version():
    text = TEXT + (DEPLOY / "compose.yaml").read_text() + (DEPLOY / "Dockerfile").read_text()
    versions = re.findall(r"scheduler-playground:(\S+)", text)
    assert (len(versions), set(versions)) == (6, {VERSION})


def test_the_image_has_what_the_repository_has():
    text = (DEPLOY / "Dockerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE) for word in line.split()]
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text()
    assert len(copied) > 5
    assert [path for path in copied if not (ROOT / path).exists() or f"!{path}\n" not in ignored] == []
    assert "--require-hashes -r requirements/run.txt" in text


def test_the_proxy_of_the_compose_file_leads_to_its_servers():
    upstreams = re.search(r"reverse_proxy (.*) \{", (DEPLOY / "Caddyfile").read_text())
    names = [upstream.removesuffix(":8000") for upstream in upstreams[1].split()]
    assert names == COMPOSE["services"]["proxy"]["depends_on"] == ["server-1", "server-2"]
    network = COMPOSE["networks"]["default"]["ipam"]["config"][0]["subnet"]
    assert {COMPOSE["services"][name]["environment"]["TRUSTED_PROXIES"] for name in names} == {network}


@pytest.mark.parametrize("path", [path for path in DEPLOY.rglob("*") if path.is_file()], ids=lambda p: p.name)
def test_what_was_never_run_says_so_at_its_top(path):
    head = " ".join(path.read_text().split("\n\n")[0].replace("#", "").split())
    assert path.suffix == ".dockerignore" or re.search("Never (run|built|applied)", head)
