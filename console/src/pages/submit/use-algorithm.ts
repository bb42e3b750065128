/** The algorithm that the document names, for all fields that depend on it. */
import { useQuery } from "@tanstack/react-query";
import { listAlgorithms, readAlgorithm, specOf } from "../../api/algorithms";
import { readOffered } from "../../api/assets";
import type { Algorithm, AlgorithmSpec, Flavor } from "../../api/types";
import { namedIn } from "../../shared/passing/place";
import { splitReference } from "./mounts";
import { useForm, useWorkspace } from "./state";

const STILL_MS = 30_000;

interface Chosen {
  /** What the document names; "" where it names none. */
  name: string;
  version: string;
  known: Algorithm[];
  pending: boolean;
  spec: AlgorithmSpec | undefined;
  versions: number[];
}

/** The algorithm that the document names, and those it might name. */
export function useAlgorithm(): Chosen {
  const form = useForm();
  const workspace = useWorkspace();
  const given = form.doc["algorithm"];
  const { name, version } = splitReference(typeof given === "string" ? given : "");
  const list = useQuery({
    queryKey: ["algorithms", "to run", workspace],
    queryFn: ({ signal }) => readOffered(listAlgorithms, workspace, signal),
    staleTime: STILL_MS,
  });
  const known = namedIn(list.data ?? [], workspace).filter((one) => one.latest > 0);
  const id = known.find((one) => one.name === name)?.id;
  const detail = useQuery({
    queryKey: ["algorithm", id, version],
    queryFn: ({ signal }) => readAlgorithm(id ?? "", version === "" ? undefined : Number(version), signal),
    enabled: id !== undefined,
    staleTime: STILL_MS,
  });
  const spec = detail.data && specOf(detail.data);
  const versions = detail.data?.history.map((one) => one.version) ?? [];
  return { name, version, known, pending: list.isPending, spec: name === "" ? undefined : spec, versions };
}

/** Whether a flavor is one that the algorithm runs with (R60). */
export function useFits(): (flavor: Pick<Flavor, "name" | "kind">) => boolean {
  const { spec } = useAlgorithm();
  return ({ name, kind }) =>
    spec === undefined ||
    ((spec.flavors.length === 0 || spec.flavors.includes(name)) &&
      (spec.runs_on.length === 0 || spec.runs_on.includes(kind)));
}
