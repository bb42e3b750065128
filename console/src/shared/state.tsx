/** The state of a job or task, told by colour, icon and word together (never by colour alone). */
import {
  CheckCircleFilled,
  ClockCircleOutlined,
  CloseCircleFilled,
  FieldTimeOutlined,
  HourglassOutlined,
  LoadingOutlined,
  MinusCircleFilled,
  PauseCircleOutlined,
  PlayCircleFilled,
  QuestionCircleFilled,
  SaveOutlined,
  StopOutlined,
} from "@ant-design/icons";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { State } from "../api/types";

type Known = State | "waiting" | "exited" | "lost";
export type Tone = "grey" | "blue" | "green" | "red" | "amber" | "violet";

const LOOKS: Record<Known, [Tone, ReactNode]> = {
  queued: ["grey", <ClockCircleOutlined key="i" />],
  initialising: ["blue", <LoadingOutlined key="i" />],
  pending: ["grey", <HourglassOutlined key="i" />],
  running: ["blue", <PlayCircleFilled key="i" />],
  saving: ["violet", <SaveOutlined key="i" />],
  retained: ["amber", <PauseCircleOutlined key="i" />],
  stopping: ["amber", <LoadingOutlined key="i" />],
  succeeded: ["green", <CheckCircleFilled key="i" />],
  failed: ["red", <CloseCircleFilled key="i" />],
  stopped: ["grey", <StopOutlined key="i" />],
  expired: ["amber", <FieldTimeOutlined key="i" />],
  waiting: ["grey", <ClockCircleOutlined key="i" />],
  exited: ["grey", <MinusCircleFilled key="i" />],
  lost: ["red", <QuestionCircleFilled key="i" />],
};

export function toneOf(state: string): Tone {
  return (LOOKS as Partial<Record<string, [Tone, ReactNode]>>)[state]?.[0] ?? "grey";
}

export function StateTag({ state, quiet = false }: { state: string; quiet?: boolean }): ReactNode {
  const { t, i18n } = useTranslation();
  const look = (LOOKS as Partial<Record<string, [Tone, ReactNode]>>)[state] ?? LOOKS.waiting;
  const key = `state.${state}`;
  return (
    <span className={`tm-state tm-tone-${look[0]}${quiet ? " tm-quiet" : ""}`} data-testid="state" data-state={state}>
      {look[1]}
      <span>{i18n.exists(key) ? t(key as "state.queued") : state}</span>
    </span>
  );
}

/** A few words in one of the tones of the states. */
export function Toned({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  return <span className={`tm-state tm-tone-${tone}`}>{children}</span>;
}

/** A task: exited means succeeded or failed by its exit code, unless it was ended on purpose (`stopped`). */
export function TaskState({
  phase,
  exitCode,
  stopped,
}: {
  phase: string;
  exitCode: number | null;
  stopped?: boolean;
}): ReactNode {
  if (phase !== "exited") return <StateTag state={phase} quiet />;
  if (stopped) return <StateTag state="stopped" quiet />;
  return <StateTag state={exitCode === 0 ? "succeeded" : "failed"} quiet />;
}
