// Written by web/write_types.py from the Python source: change it there.

export interface AfterWorkflow {
  workflow: string
  status?: "any" | "completed" | "failed"
}

export interface Agent {
  name: string
  ide: string
  model: string
  enrolled_by: string
  description?: string | Sentence
  capabilities?: string[]
  skills?: AgentSkill[]
  display_name?: string | null
  emoji?: string | null
  id: string
  registered_at: number
  looks?: string
  state?: "kicked" | "registered" | "unregistered"
  profile?: string | null
  kept_as?: string | null
  node_id?: string | null
  process?: string
  session?: string | null
  run_id?: string | null
  thread_id?: string | null
}

export interface AgentConfig {
  name?: string
  model?: string | null
  system_prompt?: string | null
  work_dir?: string | null
  timeout_s?: number | null
  max_tokens?: number | null
  temperature?: number | null
}

export interface AgentContext {
  parentOutput?: unknown
  sharedVariables?: Record<string, unknown>
  historySummary?: string | null
  fileReferences?: string[]
  constraints?: Constraints
}

export interface AgentSkill {
  id: string
  name: string
  description?: string
  tags?: string[]
  examples?: string[]
}

export interface Approval {
  by: string
  name: string
  at: number
  seat?: string
  person_id?: string | null
  option?: string
}

export interface Ask {
  kind: "decision" | "gate" | "permission" | "poll" | "question" | "report"
  asker: Asker
  title: string | Sentence
  thread_id?: string | null
  room?: string | null
  risk?: "high" | "low" | "medium"
  why?: string | Sentence
  like?: Sentence | null
  rule?: string
  text?: string | Sentence
  questions?: AskQuestion[]
  form?: Record<string, unknown> | null
  subject?: Subject | null
  digest?: string
  edits?: boolean
  contents?: Content[]
  labels?: Record<string, string>
  asked_of?: string[]
  approvers?: number
  deadline?: number
  warn_at?: number
  id: string
  state: "answered" | "expired" | "open" | "withdrawn"
  key: string
  asked_at: number
  agent_id?: string | null
  run_id?: string | null
  workflow_run_id?: string | null
  approvals?: Approval[]
  refusals?: Approval[]
  votes?: Approval[]
  warned?: boolean
  snoozed_until?: number
  delegated_to?: string | null
  due?: number
  answer?: AskAnswer | null
  closed_at?: number
  reason?: string | Sentence
  taken_at?: number
  lapsed_at?: number
  seq?: number
}

export interface AskAnswer {
  verdict: "answer" | "approve" | "deny"
  name: string
  text?: string
  options?: string[][]
  arguments?: unknown
  digest?: string
  contents?: Content[]
  form?: unknown
  scope?: "call" | "once" | "profile" | "rule" | "run"
  rule?: string
  lapses_at?: number
  by: string
  at: number
}

export interface AskFile {
  ask_id: string
  file: string
  mime: string
  size: number
}

export interface AskKindInfo {
  names: Record<string, KindName>
  notice?: string
  raised_by?: ("agent" | "room")[]
  verdicts: ("answer" | "approve" | "deny")[]
  in_words?: boolean
  needs_choice?: boolean
  is_call?: boolean
  by_votes?: boolean
  is_awaited?: boolean
  risk?: "high" | "low" | "medium"
  deadline_s?: number
}

export interface AskOption {
  label: string
  description?: string
}

export interface AskQuestion {
  question: string
  header?: string
  options?: AskOption[]
  multiple?: boolean
  custom?: boolean
}

export interface Asker {
  by: string
  name?: string
  agent_id?: string | null
  run_id?: string | null
  call_id?: string | null
  native?: string | null
  workflow_run_id?: string | null
  step?: string | null
  key?: string | null
}

export interface Author {
  author_id: string
  minute: number
  count: number
  before?: number
}

export interface Brief {
  thread_id: string
  system_prompt?: string | null
  metadata?: Record<string, unknown> | null
}

export interface Budget {
  calls_per_run?: number | null
  calls_per_hour?: number | null
  asks_per_run?: number | null
  asks_per_hour?: number | null
  usd_per_day?: number | null
  tokens_per_day?: number | null
}

export interface CallRequest {
  tool: string
  arguments?: unknown
  directory?: string | null
  resolved?: Record<string, string>
  lineage?: LineageEntry[]
  own?: boolean
  agent_id?: string | null
  contested?: string | Sentence
  server?: string | null
  is_passed_on?: boolean
  risk?: "high" | "low" | "medium" | null
}

export interface CancelOrder {
  op: "cancel"
}

export interface Channel {
  kind: "chat" | "ntfy" | "push" | "webhook"
  name: string
  host: string
  owner: string
  room?: string | null
  rules?: Rules
  id: string
  created_at: number
  since: number
  failed?: string | Sentence
  failed_at?: number
}

export interface Constraints {
  maxTokens?: number | null
  maxDuration?: number | null
  allowedTools?: string[] | null
}

export interface Content {
  type: "audio" | "image" | "resource" | "text"
  text?: string
  mime?: string
  uri?: string
  name?: string
  file?: string | null
  size?: number
}

export interface Credential {
  kind: "agent" | "node" | "operator" | "room" | "viewer" | "webhook"
  name: string
  digest: string
  rights: string[]
  agent_id?: string | null
  threads?: string[] | null
  room?: string | null
  expires_at?: number | null
  browser?: boolean
  key_digest?: string
  login_of?: string | null
  person_id?: string | null
  person?: string
  device?: string
  address?: string
  id: string
  created_at: number
  created_by: string
  revoked_at?: number | null
  last_used_at?: number | null
}

export interface DayCost {
  day: string
  usd: number
  tokens?: number
}

export interface DecideOrder {
  op: "decide"
  native: string
  decision: "allow" | "cancel" | "deny"
  text?: string
  arguments?: unknown
  digest?: string
  ask?: string
}

export interface Decision {
  message_id: string
  thread_id: string
  kind: "switch" | "takeover"
  candidate_id: string | null
  about_seq: number
  raised_at: number
  action?: string | null
  decided_by?: string | null
  decided_at?: number | null
}

export interface DescribedTool {
  name: string
  description?: string
  schema?: Record<string, unknown>
  annotations?: Record<string, unknown>
  digest: string
}

export interface Edge {
  from: string
  to: string
  when?: string | null
}

export interface EndOrder {
  op: "end"
}

export interface Epoch {
  id: string
  number: number
  begun_at: number
}

export interface FileWrite {
  run_id: string
  path: string
  agent_id: string
  node_id: string
  at: number
}

export interface FinishOrder {
  op: "finish"
  text?: string
}

export interface ForEach {
  items: string | unknown[]
  as?: string
  parallel?: number
  join?: "all" | "any" | "settled"
}

export interface Grant {
  id: string
  scope: "profile" | "run"
  holder: string
  like: string
  words: string | Sentence
  at: number
  by: string
  ask_id?: string | null
}

export interface Input {
  type?: "any" | "boolean" | "integer" | "list" | "number" | "object" | "string"
  description?: string
  required?: boolean
  default?: unknown
  choices?: unknown[]
}

export interface Judgement {
  id: string
  seq?: number
  at: number
  wanted: CallRequest
  verdict: Verdict
  decision: string
  run_id: string
  profile: string
  digest: string
  ask_id?: string | null
  answer?: string | null
  answered_by?: string | null
  answered_at?: number | null
}

export interface KeptRule {
  name: string
  place: number
  rule: Rule
  source: string
  changed_at: number
  by: string
}

export interface KindName {
  one: string
  many: string
}

export interface Level {
  kind?: "arbitrated" | "confirmed" | "mechanical" | "recommended"
  question?: string
  timeout_s?: number | null
  default?: "abort" | "run" | "skip"
  stakeholders?: string[]
  quorum?: number | null
}

export interface LineageEntry {
  profile: string | null
  depth?: number
  thread?: string | null
  run?: string | null
  allowed_tools?: string[] | null
  taint?: string
}

export interface LoopConfig {
  while?: string | null
  until?: string | null
  max?: number
}

export interface McpServer {
  name: string
  definition: ServerDefinition
  source: string
  changed_at: number
  state?: "down" | "off" | "starting" | "up"
  error?: string | Sentence
  state_at?: number
}

export interface Member {
  thread_id: string
  member_id: string
  joined_at: number
  nonce: string
  issued?: number
  unused?: number[]
  refresh?: boolean
  delivered?: number
  seen?: number
  acted?: number
}

export interface Message {
  thread_id: string
  author_id: string
  author_name: string
  role: "assistant" | "system" | "user"
  content: string
  agent?: boolean
  body?: string | null
  body_bytes?: number
  priority?: string
  mentions?: string[]
  metadata?: Record<string, unknown> | null
  reply_to?: string | null
  handoff_target?: string | null
  stop_reason?: string | null
  said?: Sentence | null
  id: string
  seq: number
  created_at: number
  edited_at?: number | null
  edit_version?: number
  reactions?: Reaction[]
}

export interface MessageFilter {
  thread?: string
  from?: string
  contains?: string
}

export interface MessageRevision {
  message_id: string
  thread_id: string
  version: number
  number: string
  old_content: string
  old_body?: string | null
  old_body_bytes?: number
  edited_by: string
  edited_at: number
}

export interface MissingProgram {
  node_id: string
  profile: string
  program: string
}

export interface Node {
  id: string
  name: string
  joined_at: number
  state?: "connected" | "new" | "revoked" | "unreachable"
  epoch?: number
  boot?: string
  taken?: number
  labels?: string[]
  capacity?: number
  drivers?: Record<string, string>
  local?: boolean
  hub?: string
  draining?: boolean
  insecure?: boolean
  changed_at?: number
}

export interface Options {
  loop_times?: number
  loop_window_s?: number
  contested_s?: number
  timezone?: string
  budget?: Budget
}

export interface Order {
  id: string
  node_id: string
  run_id: string
  agent_id: string
  work: StartOrder | SteerOrder | DecideOrder | CancelOrder | PauseOrder | ResumeOrder | FinishOrder | EndOrder
  at?: number
}

export interface PauseOrder {
  op: "pause"
}

export interface Payload {
  blob: string
  message_id: string
  thread_id: string
}

export interface PersonWait {
  ask_id: string
  kind: "decision" | "gate" | "permission" | "poll" | "question" | "report"
  step: string
  since: number
  name?: string
  asked_of?: string[]
}

export interface PolicyState {
  id: string
  digest: string
  options?: Options
  version?: number
}

export interface Profile {
  name: string
  definition: ProfileDefinition
  source: string
  changed_at: number
  seq?: number
}

export interface ProfileDefinition {
  driver: string
  display_name?: string
  description?: string | Sentence
  command?: string[]
  type?: string
  capabilities?: string[]
  model?: string | null
  temperature?: number | null
  instructions?: string | null
  skills?: string[]
  directory?: string | null
  worktree?: boolean
  env?: Record<string, string>
  pass_env?: string[]
  sandbox?: string
  approvals?: string
  allowed_tools?: string[]
  denied_tools?: string[]
  may_spawn?: boolean
  may_write?: boolean
  may_execute?: boolean
  may_network?: boolean
  max_depth?: number
  max_children?: number
  timeout_s?: number
  start_timeout_s?: number
  max_tokens?: number | null
  max_cost_usd?: number | null
  labels?: string[]
  node?: string | null
  wake_for_people?: boolean
  wake_on?: string[]
  invite_prompt?: string | null
  idle_s?: number
  enabled?: boolean
  options?: Record<string, unknown>
}

export interface Reaction {
  agent_id: string
  reaction: string
  at: number
}

export interface ResumeOrder {
  op: "go_on"
}

export interface RetryPolicy {
  max?: number
  backoff_s?: number
  factor?: number
  max_backoff_s?: number
  jitter?: number
  on?: ("expression" | "failed" | "interrupted" | "output" | "timeout")[]
}

export interface Rule {
  decision: "allow" | "ask" | "deny"
  tools?: string[]
  kinds?: string[]
  arguments?: Record<string, string>
  paths?: string[]
  directories?: string[]
  calls?: string[]
  where?: "any" | "inside" | "outside"
  hosts?: string[]
  commands?: string[]
  when?: string
  profiles?: string[]
  min_depth?: number | null
  max_depth?: number | null
  threads?: string[]
  runs?: string[]
  days?: string[]
  hours?: string
  until?: number | null
  risk?: "high" | "low" | "medium" | null
  once?: "" | "run"
  note?: string | Sentence
}

export interface Rules {
  kinds?: ("decision" | "gate" | "permission" | "poll" | "question" | "report")[]
  risks?: ("high" | "low" | "medium")[]
  quiet?: string
  zone?: string
  loud?: ("high" | "low" | "medium")[]
}

export interface Run {
  profile: string
  agent_id: string
  root_id: string
  depth: number
  prompt: string
  parent_id?: string | null
  thread_id?: string | null
  node_id?: string | null
  pinned?: string | null
  keep?: boolean
  context?: AgentContext | null
  task?: string | null
  continues?: string | null
  session?: string | null
  isolation?: string
  overrides?: Record<string, string | number | boolean>
  is_step?: boolean
  taint?: string
  timeout_s?: number
  max_tokens?: number | null
  max_cost_usd?: number | null
  id: string
  seq?: number
  status: "pending" | "running" | "waiting" | "cancelled" | "completed" | "failed" | "interrupted"
  created_at: number
  by: string
  path?: string[]
  continued_in?: string | null
  output?: string | null
  result?: unknown
  error?: string | Sentence | null
  waiting_for?: string | Sentence | null
  waits_kind?: "decision" | "gate" | "permission" | "poll" | "question" | "report" | "limit" | null
  waits_key?: string
  input_tokens?: number
  output_tokens?: number
  cost_usd?: number | null
  is_usage_partial?: boolean
  earlier?: RunUsage
  calls?: number
  items?: number
  heard_bytes?: number
  directory?: string
  repository?: string
  branch?: string
  model?: string
  started_at?: number | null
  ended_at?: number | null
  deadline?: number
  goes_on_at?: number
  extended_at?: number
}

export interface RunItem {
  run_id: string
  place: string
  number: number
  kind:
    | "approval_refused"
    | "asleep"
    | "call_finished"
    | "call_started"
    | "changed"
    | "died"
    | "lost"
    | "model_call_cut"
    | "opened"
    | "permission_asked"
    | "permission_gone"
    | "question_asked"
    | "said"
    | "thought"
    | "turn_ended"
    | "turn_paused"
    | "turn_used_up"
    | "turn_went_on"
    | "unknown"
    | "usage"
  data: Record<string, unknown>
  at: number
}

export interface RunUsage {
  input_tokens?: number
  output_tokens?: number
  cost_usd?: number | null
}

export interface RunWait {
  ask_id: string
  run_id: string
}

export interface SavedVersion {
  name: string
  place: string
  version: number
  digest: string
  saved_at: number
  saved_by: string
  source?: string
  text?: string
  restored_from?: number
}

export interface Sentence {
  key: string
  params?: Record<string, string | number | (string | number | Sentence)[] | Sentence>
}

export interface ServerDefinition {
  command?: string[]
  url?: string | null
  directory?: string | null
  env?: Record<string, string>
  secrets?: Record<string, string>
  risks?: Record<string, "high" | "low" | "medium">
  trust_annotations?: boolean
  profiles?: string[]
  timeout_s?: number
  description?: string
  enabled?: boolean
}

export interface ServerTool {
  server: string
  name: string
  seen: DescribedTool
  seen_at: number
  state?: "accepted" | "gone" | "held"
  accepted?: DescribedTool | null
  accepted_by?: string | null
  accepted_at?: number | null
}

export interface SkillText {
  name?: string
  description?: string
  text: string
}

export interface StartOrder {
  op: "start"
  profile?: string
  definition: ProfileDefinition
  prompt: string
  thread_id?: string | null
  thread_topic?: string | null
  keep?: boolean
  task?: string
  is_step?: boolean
  session?: string | null
  missing_skills?: string[]
}

export interface SteerOrder {
  op: "steer"
  text?: string
}

export interface Step {
  id: string
  name?: string
  description?: string
  profile?: string | null
  agent_runtime?: string | null
  agent_config?: AgentConfig
  prompt?: string | null
  skill?: string | null
  dependencies?: string[]
  join?: "all" | "any"
  when?: string | null
  inputs?: Record<string, unknown>
  output?: string | Record<string, unknown> | null
  save?: Record<string, unknown>
  output_schema?: Record<string, unknown> | null
  reuse_agent?: string | null
  keep_agent?: boolean
  keep_as?: string | null
  retry?: RetryPolicy
  timeout_s?: number | null
  on_error?: string
  on_crash?: "ask" | "probe" | "rerun" | "resume"
  for_each?: ForEach | null
  loop?: LoopConfig | null
  workflow?: string | null
  wait?: WaitConfig | null
  set?: Record<string, unknown> | null
  level?: Level
  rollback?: Step[]
  files?: string[]
  context?: ("outputs" | "summary" | "variables")[]
}

export interface StoredBytes {
  id: string
  bytes?: number
  level?: number
  payer?: string
}

export interface Subject {
  tool: string
  arguments?: unknown
  directory?: string
  profile?: string
  agent_id?: string
  run_id?: string
  sandbox?: string
  files?: Record<string, string>
}

export interface Thread {
  id: string
  seq?: number
  topic: string
  status: "discuss" | "done" | "implement" | "review" | "archived" | "closed"
  created_at: number
  owner: string
  current_seq?: number
  admin_id?: string | null
  admin_since?: number
  admin_kind?: string
  closed_at?: number | null
  summary?: string | null
  template_id?: string | null
  settings?: ThreadSettings
  status_before?: "discuss" | "done" | "implement" | "review" | "archived" | "closed" | null
  messages?: number
  last_at?: number
  pinned?: boolean
  mailbox_of?: string | null
}

export interface ThreadSettings {
  auto_administrator_enabled?: boolean
  timeout_seconds?: number
  switch_timeout_seconds?: number
}

export interface ThreadTemplate {
  id: string
  name: string
  system_prompt: string
  created_at?: number
  description?: string
  default_metadata?: Record<string, unknown> | null
  builtin?: boolean
}

export interface ToolCall {
  run_id: string
  call_id: string
  tool: string
  started_at: number
  title?: string
  input?: unknown
  output?: string
  ok?: boolean | null
  ended_at?: number | null
  digest?: string
}

export interface Tree {
  root_id: string
  limits: TreeLimits
  runs?: number
  live?: number
  tokens?: number
  cost_usd?: number
  tombstone?: string | null
}

export interface TreeLimits {
  max_depth?: number
  max_runs?: number
  max_tokens?: number | null
  max_cost_usd?: number | null
}

export interface Trigger {
  id?: string
  cron?: string | null
  timezone?: string
  catch_up?: "all" | "once" | "skip"
  webhook?: boolean
  message?: MessageFilter | null
  after?: AfterWorkflow | null
  inputs?: Record<string, unknown>
  enabled?: boolean
}

export interface TriggerState {
  id: string
  workflow: string
  name: string
  kind: "after" | "cron" | "message" | "webhook" | ""
  spec: Trigger
  armed?: boolean
  last?: number
  due?: number
  after?: string
  starts?: number
  started_at?: number
  last_run?: string | null
  error?: string | Sentence | null
  minute?: number
  in_minute?: number
}

export interface Upload {
  id: string
  blob: string
  name: string
  mime: string
  size: number
  by: string
  at: number
}

export interface UploadPlace {
  upload_id: string
  thread_id: string
}

export interface UploadTotal {
  by: string
  size: number
}

export interface UsedNonce {
  door: string
  nonce: string
  at: number
}

export interface Verdict {
  decision: "allow" | "ask" | "deny"
  risk: "high" | "low" | "medium"
  rule: string
  why: string | Sentence
  once?: string
  like?: string
  like_words?: string | Sentence
  kind?: "execute" | "hub" | "network" | "other" | "plan" | "read" | "search" | "write"
  digest?: string
}

export interface WaitConfig {
  seconds?: number | string | null
  until?: string | null
  message?: MessageFilter | null
  webhook?: string | null
}

export interface Workflow {
  name: string
  digest: string
  version: number
  changed_at: number
  changed_by: string
  alias?: string
  description?: string
  source?: string
  steps?: number
}

export interface WorkflowAttempt {
  run_id: string
  place: string
  step: string
  number: number
  status:
    | "delayed"
    | "held"
    | "pending"
    | "queued"
    | "running"
    | "waiting"
    | "cancelled"
    | "completed"
    | "failed"
    | "skipped"
    | "interrupted"
  began_at?: number | null
  ended_at?: number | null
  agent_id?: string | null
  agent_run?: string | null
  error?: string | Sentence | null
  round?: number
  spent?: WorkflowUsage
}

export interface WorkflowDefinition {
  name: string
  id?: string
  project?: string
  description?: string
  inputs?: Record<string, Input>
  variables?: Record<string, unknown>
  steps: Step[]
  edges?: Edge[]
  output?: string | Record<string, unknown> | null
  policy?: "all_success" | "allow_debt" | "first_success"
  triggers?: Trigger[]
  limits?: WorkflowLimits
  skills?: Record<string, SkillText>
  workflows?: Record<string, WorkflowDefinition>
}

export interface WorkflowEnding {
  kind: "agent" | "ask" | "run" | "workflow"
  key: string
  run_id: string
  step: string
  reason?: string | Sentence
}

export interface WorkflowFacts {
  run_id: string
  inputs?: Record<string, unknown>
  variables?: Record<string, unknown>
  pinned?: Record<string, string>
  agents?: Record<string, string>
}

export interface WorkflowLimits {
  timeout_s?: number | null
  max_tokens?: number | null
  max_cost_usd?: number | null
  max_parallel?: number
}

export interface WorkflowRun {
  workflow: string
  digest: string
  root_id: string
  steps: number
  due?: number
  depth?: number
  parent_id?: string | null
  parent_step?: string | null
  parent_attempt?: number
  thread_id?: string | null
  trigger?: string
  taint?: string
  directory?: string | null
  id: string
  seq?: number
  status: "paused" | "running" | "stopping" | "cancelled" | "completed" | "failed"
  created_at: number
  by: string
  completed?: number
  failed?: number
  skipped?: number
  cancelled?: number
  active?: number
  working?: number
  first_queued?: string | null
  last_queued?: string | null
  debts?: number
  note?: string | Sentence | null
  verdict?: "cancelled" | "completed" | "failed" | null
  takes_back?: boolean
  error?: string | Sentence | null
  output?: unknown
  ended_at?: number | null
  spent?: WorkflowUsage
  waiting?: boolean
  waits_for?: PersonWait[]
}

export interface WorkflowStep {
  run_id: string
  id: string
  status?: "delayed" | "held" | "pending" | "queued" | "running" | "waiting" | "cancelled" | "completed" | "failed" | "skipped"
  seen?: number
  attempt?: number
  tries?: number
  round?: number
  waits_kind?: "ask" | "engine" | "message" | "run" | "time" | "webhook" | "workflow" | null
  waits_key?: string
  due?: number
  dated?: boolean
  leave?: boolean
  asking?: string
  repairs?: number
  resumed?: string | null
  next_queued?: string | null
  began_at?: number | null
  ended_at?: number | null
  agent_id?: string | null
  agent_run?: string | null
  output?: unknown
  error?: string | Sentence | null
  reason?: string | Sentence | null
  rollback?: boolean
  debt?: boolean
  spent?: WorkflowUsage
  spent_before?: WorkflowUsage
  index?: number | null
  item?: unknown
  total?: number
  done?: number
  lost?: number
  kept?: number[]
}

export interface WorkflowUsage {
  input_tokens?: number
  output_tokens?: number
  cost_usd?: number
}

export interface WorkflowVersion {
  digest: string
  name: string
  version: number
  definition: WorkflowDefinition
  made_at: number
  text?: string
}

export interface WrongFile {
  file: string
  name: string | null
  problem: string | Sentence
  sentences?: Record<string, Sentence>
}

export interface WrongProfile {
  file: string
  name: string
  found: WrongFile
}

export interface Tables {
  "agent": Agent
  "ask": Ask
  "ask_file": AskFile
  "author": Author
  "brief": Brief
  "call": ToolCall
  "channel": Channel
  "credential": Credential
  "day_cost": DayCost
  "decision": Decision
  "edit": MessageRevision
  "epoch": Epoch
  "grant": Grant
  "item": RunItem
  "judgement": Judgement
  "member": Member
  "message": Message
  "missing_program": MissingProgram
  "node": Node
  "order": Order
  "payload": Payload
  "policy": PolicyState
  "profile": Profile
  "rule": KeptRule
  "run": Run
  "server": McpServer
  "server_tool": ServerTool
  "stored_bytes": StoredBytes
  "template": ThreadTemplate
  "thread": Thread
  "tree": Tree
  "trigger": TriggerState
  "trigger_nonce": UsedNonce
  "upload": Upload
  "upload_place": UploadPlace
  "upload_total": UploadTotal
  "workflow": Workflow
  "workflow_attempt": WorkflowAttempt
  "workflow_ending": WorkflowEnding
  "workflow_facts": WorkflowFacts
  "workflow_run": WorkflowRun
  "workflow_saved_version": SavedVersion
  "workflow_step": WorkflowStep
  "workflow_version": WorkflowVersion
  "workflow_wait": RunWait
  "writing": FileWrite
  "wrong_profile": WrongProfile
}

export const ACTIVE_RUN_STATUSES: readonly string[] = ["pending", "running", "waiting"]

export const ASK_KINDS: Record<Ask['kind'], AskKindInfo> = {
  "question": {
    "names": {
      "en": {
        "one": "Question",
        "many": "Questions"
      },
      "zh-CN": {
        "one": "提问",
        "many": "提问"
      }
    },
    "notice": "A question",
    "raised_by": [
      "agent",
      "room"
    ],
    "verdicts": [
      "answer",
      "deny"
    ],
    "in_words": true,
    "needs_choice": false,
    "is_call": false,
    "by_votes": false,
    "is_awaited": true,
    "risk": "low",
    "deadline_s": 3600
  },
  "report": {
    "names": {
      "en": {
        "one": "Report",
        "many": "Reports"
      },
      "zh-CN": {
        "one": "汇报",
        "many": "汇报"
      }
    },
    "notice": "A report",
    "raised_by": [
      "agent",
      "room"
    ],
    "verdicts": [
      "answer",
      "approve",
      "deny"
    ],
    "in_words": true,
    "needs_choice": true,
    "is_call": false,
    "by_votes": false,
    "is_awaited": false,
    "risk": "low",
    "deadline_s": 3600
  },
  "permission": {
    "names": {
      "en": {
        "one": "Permission",
        "many": "Permissions"
      },
      "zh-CN": {
        "one": "权限",
        "many": "权限"
      }
    },
    "notice": "A call waits for leave",
    "raised_by": [
      "agent"
    ],
    "verdicts": [
      "approve",
      "deny"
    ],
    "in_words": false,
    "needs_choice": true,
    "is_call": true,
    "by_votes": false,
    "is_awaited": true,
    "risk": "high",
    "deadline_s": 0
  },
  "decision": {
    "names": {
      "en": {
        "one": "Decision",
        "many": "Decisions"
      },
      "zh-CN": {
        "one": "决策",
        "many": "决策"
      }
    },
    "notice": "",
    "raised_by": [],
    "verdicts": [
      "approve",
      "deny",
      "answer"
    ],
    "in_words": false,
    "needs_choice": true,
    "is_call": false,
    "by_votes": false,
    "is_awaited": true,
    "risk": "low",
    "deadline_s": 0
  },
  "gate": {
    "names": {
      "en": {
        "one": "Gate",
        "many": "Gates"
      },
      "zh-CN": {
        "one": "关卡",
        "many": "关卡"
      }
    },
    "notice": "",
    "raised_by": [],
    "verdicts": [
      "approve",
      "deny"
    ],
    "in_words": false,
    "needs_choice": true,
    "is_call": false,
    "by_votes": false,
    "is_awaited": true,
    "risk": "low",
    "deadline_s": 0
  },
  "poll": {
    "names": {
      "en": {
        "one": "Poll",
        "many": "Polls"
      },
      "zh-CN": {
        "one": "投票",
        "many": "投票"
      }
    },
    "notice": "A poll",
    "raised_by": [
      "agent",
      "room"
    ],
    "verdicts": [
      "answer"
    ],
    "in_words": false,
    "needs_choice": true,
    "is_call": false,
    "by_votes": true,
    "is_awaited": true,
    "risk": "low",
    "deadline_s": 3600
  }
}
