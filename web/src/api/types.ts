// Written by web/write_types.py from the Python source: change it there.

export interface AbortWorkflowBody {
  reason?: string
  rollback?: boolean
}

export interface AcceptToolsBody {
  tools: Record<string, string | null>
}

export interface AddedChannel {
  channel: Channel
  key: string | null
}

export interface Addresses {
  host: string
  port: number
  addresses: string[]
}

export interface Admin {
  admin_id?: string | null
  admin_name?: string | null
  admin_emoji?: string | null
  admin_type?: string | null
  assigned_at?: string | null
}

export interface AfterWorkflow {
  workflow: string
  status?: "any" | "completed" | "failed"
}

export interface AgentChange {
  token?: string | null
  description?: string | null
  capabilities?: string[] | null
  skills?: AgentSkill[] | null
  display_name?: string | null
  emoji?: string | null
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

export interface AgentNumbers {
  total: number
  online: number
}

export interface AgentProof {
  agent_id: string
  token?: string | null
}

export interface AgentSkill {
  id: string
  name: string
  description?: string
  tags?: string[]
  examples?: string[]
}

export interface AmendStepBody {
  step: string
  changes: Record<string, unknown>
}

export interface AnswerBatch {
  answers: BatchAnswer[]
}

export interface AnswerBody {
  verdict: "answer" | "approve" | "deny"
  text?: string
  options?: string[][]
  arguments?: unknown
  contents?: ContentInput[]
  form?: unknown
  scope?: "call" | "once" | "profile" | "rule" | "run"
  remember?: RuleChoice | null
  digest?: string | null
  name?: string
}

export interface AnswerResult {
  ask_id: string
  ok: boolean
  state?: "answered" | "expired" | "open" | "withdrawn" | ""
  code?: string
  message?: string
  name?: string
  at?: number
  key?: string
  params?: Record<string, unknown>
}

export interface AnswerResults {
  results: AnswerResult[]
}

export interface AppliedRules {
  names: string[]
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
  title: string
  thread_id?: string | null
  room?: string | null
  risk?: "high" | "low" | "medium"
  why?: string
  like?: Sentence | null
  rule?: string
  text?: string
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
  reason?: string
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

export interface Asks {
  asks: Ask[]
  next: number | null
}

export interface AttemptReport {
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
  began_at: number | null
  ended_at: number | null
  agent_id: string | null
  agent_run: string | null
  error: string | null
  spent: WorkflowUsage
}

export interface Audit {
  events: AuditEvent[]
  next_after_seq: number | null
}

export interface AuditEvent {
  seq: number
  at: string
  by: string
  type: string
  data: Record<string, unknown>
  name: string
  agent_id: string | null
  node: string | null
  sentences?: Record<string, Sentence>
}

export interface Axis {
  name: "lasts" | "what" | "where" | "who"
  options: Phrase[]
}

export interface BatchAnswer {
  verdict: "answer" | "approve" | "deny"
  text?: string
  options?: string[][]
  arguments?: unknown
  contents?: ContentInput[]
  form?: unknown
  scope?: "call" | "once" | "profile" | "rule" | "run"
  remember?: RuleChoice | null
  digest?: string | null
  name?: string
  ask_id: string
}

export interface BrowserSubscription {
  endpoint: string
  keys: PushKeys
}

export interface Budget {
  calls_per_run?: number | null
  calls_per_hour?: number | null
  asks_per_run?: number | null
  asks_per_hour?: number | null
  usd_per_day?: number | null
  tokens_per_day?: number | null
}

export interface Bundle {
  profiles: Record<string, Record<string, unknown>>
}

export interface CallRequest {
  tool: string
  arguments?: unknown
  directory?: string | null
  resolved?: Record<string, string>
  lineage?: LineageEntry[]
  own?: boolean
  agent_id?: string | null
  contested?: string
  server?: string | null
  is_passed_on?: boolean
  risk?: "high" | "low" | "medium" | null
}

export interface CancelRunBody {
  cascade?: boolean
  reason?: string
}

export interface ChangedAgent {
  agent_id: string
  name: string
  display_name: string
  emoji: string
  description: string
  capabilities: string[]
  skills: AgentSkill[]
  last_activity?: string
  ok?: boolean
}

export interface ChangedMessage {
  version: number
  msg_id?: string | null
  edited_at?: string | null
  edited_by?: string | null
  no_change?: boolean
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
  failed?: string
  failed_at?: number
}

export interface ChannelTestResult {
  ok: boolean
  error: string
  sentences?: Record<string, Sentence>
}

export interface ChatRequest {
  session_id: string
  message: string
  enable_mcp_tools?: boolean
  attachments?: unknown[] | null
  profile?: string | null
}

export interface CloseThreadBody {
  summary?: string | null
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

export interface ContentInput {
  type?: "audio" | "image" | "resource" | "text"
  text?: string
  data?: string | null
  mime?: string
  uri?: string
  name?: string
}

export interface ContinueBody {
  prompt: string
  timeout_s?: number | null
  max_tokens?: number | null
  max_cost_usd?: number | null
}

export interface DecisionTaken {
  ok: boolean
  action: string
  thread_id: string
  already_decided: boolean
  notified_admin_id?: string | null
  notified_admin_name?: string | null
  new_admin_id?: string | null
  new_admin_name?: string | null
  kept_admin_id?: string | null
  kept_admin_name?: string | null
  source_message_id?: string | null
  decided_at?: string | null
}

export interface DelegateAskBody {
  to: string
}

export interface Deleted {
  thread_id: string
  topic: string
  message_count: number
}

export interface DeletedThread {
  deleted: Deleted
  ok?: boolean
}

export interface DeliveryCount {
  delivered: number
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

export interface Error {
  detail: unknown
  code: string
}

export interface ExtendRunBody {
  timeout_s?: number | null
  max_tokens?: number | null
  max_cost_usd?: number | null
}

export interface Fired {
  run_id?: string | null
  error?: string | null
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
  words: string
  at: number
  by: string
  ask_id?: string | null
}

export interface History {
  message_id: string
  current_content: string
  edit_version: number
  edits: RestEdit[]
}

export interface HoldToolsBody {
  tools: string[]
}

export interface HubHealth {
  status?: "ok"
  service?: string
}

export interface ImportedProfiles {
  names: string[]
}

export interface Input {
  type?: "any" | "boolean" | "integer" | "list" | "number" | "object" | "string"
  description?: string
  required?: boolean
  default?: unknown
  choices?: unknown[]
}

export interface InputText {
  text: string
  code?: string | null
  receiver?: string | null
}

export interface InputTexts {
  texts: string[]
}

export interface InviteBody {
  agent_name: string
  prompt?: string | null
}

export interface InviteResult {
  ok: boolean
  agent_name: string
  reason: string
  command_executed: string
  run_id?: string | null
  agent_id?: string | null
  detail?: string | null
}

export interface IssuedCredential {
  id: string
  kind: "agent" | "node" | "operator" | "room" | "viewer" | "webhook"
  name: string
  rights: string[]
  agent_id: string | null
  threads: string[] | null
  room: string | null
  created_at: string
  created_by: string
  expires_at: string | null
  revoked_at: string | null
  browser: boolean
  person: string
  device: string
  address: string
  last_used_at: string | null
  token: string | null
}

export interface Joined {
  thread: RestThread
  current_seq: number
  reply_token: string | null
  reply_window?: ReplyWindow
}

export interface JoinedNode {
  node_id: string
  name: string
  token: string
  pin: string | null
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

export interface Judgements {
  judgements: Judgement[]
  next_before: number | null
}

export interface KeptImage {
  url: string
  name: string
  id: string
  mime: string
  size: number
}

export interface KeptRule {
  name: string
  place: number
  rule: Rule
  source: string
  changed_at: number
  by: string
}

export interface KickedAgent {
  agent_id: string
  agent_name: string
  threads_interrupted: string[]
  sessions_disconnected_count: number
  message: string
  ok?: boolean
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

export interface ListedAgent {
  id: string
  name: string
  display_name: string
  alias_source: string
  description: string
  ide: string
  model: string
  emoji: string
  capabilities: string[]
  skills: AgentSkill[]
  is_online: boolean
  registered_at: string
  last_heartbeat: string
  last_activity: string
  last_activity_time: string
  is_sse_connected?: boolean
  is_invitable?: boolean
  is_available?: boolean
  profile?: string | null
  process?: string
  kept_as?: string | null
}

export interface ListedProfile {
  name: string
  display_name: string
  description: string
  driver: string
  enabled: boolean
  source: string
  is_invitable: boolean
  samples?: SamplePrompts | null
  sentences?: Record<string, Sentence>
}

export interface ListedRun {
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
  error?: string | null
  waiting_for?: string | null
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
  agent_name?: string
  held_up_by?: string
}

export interface ListedTemplate {
  id: string
  name: string
  description: string
  is_builtin: boolean
  created_at: string
}

export interface LoginCode {
  code: string
  expires_in_s: number
}

export interface LoopConfig {
  while?: string | null
  until?: string | null
  max?: number
}

export interface LoopNumbers {
  busy?: number
  held?: number
  blocked?: number
  starved?: number
  longest_busy_ms?: number
}

export interface MadeTemplate {
  id: string
  name: string
  description: string | null
  is_builtin?: boolean
}

export interface Mail {
  content: string
  author?: string | null
  priority?: string
  metadata?: Record<string, unknown> | null
}

export interface MatchedId {
  id: string
  about: string
}

export interface MatchedIds {
  ids: MatchedId[]
  has_more: boolean
  by_name: boolean
  near: string[]
}

export interface McpServer {
  name: string
  definition: ServerDefinition
  source: string
  changed_at: number
  state?: "down" | "off" | "starting" | "up"
  error?: string
  state_at?: number
}

export interface Me {
  id: string
  kind: "agent" | "node" | "operator" | "room" | "viewer" | "webhook" | "anonymous" | "hub"
  name: string
  rights: string[]
  version: string
  now: number
  room: string | null
  insecure: boolean
  person: string
  handle: string
  owner: string
  suggested_name: string
}

export interface MemberBody {
  agent_id?: string | null
}

export interface MessageChange {
  content?: string | null
  new_content?: string | null
  edited_by?: string | null
}

export interface MessageCounts {
  since: number
  step_ms: number
  counts: number[]
}

export interface MessageFilter {
  thread?: string
  from?: string
  contains?: string
}

export interface MessageHit {
  message_id: string
  thread_id: string
  thread_topic: string
  author: string
  seq: number
  created_at: string
  snippet: string
  metadata: string | null
}

export interface MessageNumbers {
  total: number
  rate: Record<string, number>
  stop_reasons: Record<string, number>
  avg_latency_ms?: number | null
}

export interface MessageOfThread {
  id: string
  seq: number
  author: string
  author_id: string | null
  author_name: string
  author_emoji: string
  role: "assistant" | "system" | "user"
  content: string
  created_at: string
  priority: string
  reply_to_msg_id: string | null
  metadata: string | null
  edited_at: string | null
  edit_version: number
  reactions: RestReaction[]
  thread_id: string
}

export interface Metrics {
  status: "ok"
  uptime_seconds: number
  started_at: string
  threads: ThreadNumbers
  messages: MessageNumbers
  agents: AgentNumbers
  work: WorkNumbers
  schema_version: number
  seq: number
  commits: number
  events: number
  queue: number
  waiters: number
  memory_bytes: number | null
  reactor_errors: number
  loop: LoopNumbers
  limited: Record<string, number>
  near_limit: NearLimit[]
}

export interface NearLimit {
  id: string
  name: string
  bytes: number
  limit: number
  setting: string
}

export interface NewAgent {
  ide: string
  model: string
  description?: string | null
  capabilities?: string[] | null
  skills?: AgentSkill[] | null
  display_name?: string | null
  emoji?: string | null
}

export interface NewAsk {
  title: string
  kind?: "decision" | "gate" | "permission" | "poll" | "question" | "report"
  text?: string
  questions?: AskQuestion[]
  form?: Record<string, unknown> | null
  contents?: ContentInput[]
  labels?: Record<string, string>
  thread_id?: string | null
  room?: string | null
  risk?: "high" | "low" | "medium" | null
  asked_of?: string[]
  approvers?: number
  timeout_s?: number | null
}

export interface NewChannel {
  kind: "chat" | "ntfy" | "push" | "webhook"
  name: string
  subscription?: BrowserSubscription | null
  url?: string | null
  token?: string | null
  rules?: Rules
}

export interface NewCredential {
  kind: "agent" | "node" | "operator" | "room" | "viewer" | "webhook"
  name: string
  rights?: string[] | null
  agent_id?: string | null
  threads?: string[] | null
  room?: string | null
  expires_in_s?: number | null
}

export interface NewDecision {
  action: "cancel" | "keep" | "switch" | "takeover"
  candidate_admin_id?: string | null
  source_message_id?: string | null
}

export interface NewMessage {
  content: string
  author?: string | null
  role?: "assistant" | "system" | "user"
  priority?: string
  mentions?: string[] | null
  metadata?: Record<string, unknown> | null
  images?: (Record<string, unknown>)[] | null
  reply_to_msg_id?: string | null
  expected_last_seq?: number | null
  reply_token?: string | null
}

export interface NewName {
  name: string
}

export interface NewNode {
  name: string
}

export interface NewReaction {
  reaction: string
  agent_id?: string | null
}

export interface NewReceiver {
  name?: string
}

export interface NewRun {
  profile: string
  prompt: string
  agent?: string | null
  keep?: boolean
  keep_as?: string | null
  thread_id?: string | null
  parent_id?: string | null
  node?: string | null
  directory?: string | null
  worktree?: boolean | null
  model?: string | null
  session?: string | null
  context?: AgentContext | null
  timeout_s?: number | null
  max_tokens?: number | null
  max_cost_usd?: number | null
}

export interface NewTemplate {
  id: string
  name: string
  system_prompt?: string
  description?: string | null
  default_metadata?: Record<string, unknown> | null
}

export interface NewThread {
  topic: string
  creator_agent_id?: string | null
  metadata?: Record<string, unknown> | null
  system_prompt?: string | null
  template?: string | null
}

export interface NewWorkflowRun {
  workflow?: string | null
  definition?: Record<string, unknown> | null
  text?: string | null
  source?: string
  inputs?: Record<string, unknown>
  thread_id?: string | null
  directory?: string | null
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

export interface NodeHealth {
  node: string
  state: "connected" | "new" | "revoked" | "unreachable"
  version: string
  problems?: string[]
  sentences?: Sentence[]
}

export interface NotificationSetup {
  vapid_key: string
  channels: Channel[]
}

export interface Ok {
  ok?: boolean
}

export interface OnlineRoom {
  room: string
  people: PersonOnline[]
}

export interface OpenedThread {
  id: string
  topic: string
  status: "discuss" | "done" | "implement" | "review" | "archived" | "closed"
  system_prompt: string | null
  template_id: string | null
  created_at: string
  current_seq: number
  reply_token: string
  reply_window?: ReplyWindow
}

export interface Options {
  loop_times?: number
  loop_window_s?: number
  contested_s?: number
  timezone?: string
  budget?: Budget
}

export interface PauseWorkflowBody {
  reason?: string
}

export interface PermissionReply {
  session_id: string
  request_id: string
  approved: boolean
  user_feedback?: string | null
}

export interface PermissionTaken {
  success: boolean
  request_id: string
  approved: boolean
  status: string
}

export interface PersonOnline {
  client_id: string
  nickname: string
  connected_at: number
}

export interface PersonWait {
  ask_id: string
  kind: "decision" | "gate" | "permission" | "poll" | "question" | "report"
  step: string
  since: number
  name?: string
  asked_of?: string[]
}

export interface Phrase {
  choice: string
  code:
    | "30d"
    | "90d"
    | "all"
    | "always"
    | "anywhere"
    | "call"
    | "command"
    | "folder"
    | "host"
    | "own"
    | "profiles"
    | "program"
    | "read_file"
    | "read_files"
    | "run"
    | "safe_program"
    | "tool"
    | "write_file"
    | "write_files"
  value?: string
}

export interface Picture {
  width: number
  height: number
  places: Record<string, [number, number]>
  arrows: PictureArrow[]
}

export interface PictureArrow {
  source: string
  target: string
  label: string
  kind: "after" | "error" | "when"
  points: ([number, number])[]
}

export interface Policy {
  version: number
  options: Options
  rules: KeptRule[]
  grants: Grant[]
  wrong: PolicyFileProblem[]
}

export interface PolicyFileProblem {
  file: string
  key: string
  problem: string
  sentences?: Record<string, Sentence>
}

export interface PolicyTrialBody {
  rule?: Rule | null
  name?: string | null
  last?: number
  all?: boolean
}

export interface PostedMessage {
  id: string
  seq: number
  author: string
  author_id: string | null
  author_name: string
  author_emoji: string
  role: "assistant" | "system" | "user"
  content: string
  created_at: string
  priority: string
  reply_to_msg_id: string | null
  metadata: string | null
  current_seq: number
  reply_token: string | null
  reply_window: ReplyWindow
  unreached?: UnreachedRecipient[]
}

export interface Problem {
  code: string
  message: string
  remedy: string
  path?: (string | number)[]
  step?: string
  file?: string
  line?: number
  column?: number
  sentences?: Record<string, Sentence>
}

export interface Profile {
  name: string
  definition: ProfileDefinition
  source: string
  changed_at: number
  seq?: number
}

export interface ProfileCheckResult {
  profiles: ProfileHealth[]
  wrong_files: WrongFile[]
}

export interface ProfileDefinition {
  driver: string
  display_name?: string
  description?: string
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

export interface ProfileHealth {
  name: string
  driver: string
  source: string
  enabled: boolean
  ok: boolean
  problems: string[]
  sentences: Sentence[]
  nodes: NodeHealth[]
}

export interface PushKeys {
  p256dh: string
  auth: string
}

export interface PutRuleBody {
  rule: Rule
  before?: string | null
}

export interface Receipt {
  agent_id: string
  agent_name: string
  state: "acted" | "delivered" | "queued" | "seen"
  now?: string
  sentences?: Record<string, Sentence>
}

export interface Receipts {
  message_id: string
  receipts: Receipt[]
}

export interface Receiver {
  id: string
  name: string
  code: string
}

export interface RegisteredAgent {
  agent_id: string
  name: string
  display_name: string
  alias_source: string
  emoji: string
  token: string | null
  capabilities: string[]
  skills: AgentSkill[]
}

export interface Remembered {
  name: string
  rule: Rule
  choice: RuleChoice
  axes: Axis[]
  risk: "high" | "low" | "medium"
  why: string
  sentences?: Record<string, Sentence>
  words: string
  trial: RuleTrial
}

export interface RemovedReaction {
  removed: boolean
  message_id: string
  reaction: string
  agent_id: string
}

export interface RenameThreadBody {
  topic: string
}

export interface Renamed {
  thread_id: string
  topic: string
  ok?: boolean
}

export interface ReplyWindow {
  expires_at?: string
  max_new_messages?: number
}

export interface RestAgent {
  id: string
  name: string
  display_name: string
  alias_source: string
  description: string
  ide: string
  model: string
  emoji: string
  capabilities: string[]
  skills: AgentSkill[]
  is_online: boolean
  registered_at: string
  last_heartbeat: string
  last_activity: string
  last_activity_time: string
  is_sse_connected?: boolean
}

export interface RestCredential {
  id: string
  kind: "agent" | "node" | "operator" | "room" | "viewer" | "webhook"
  name: string
  rights: string[]
  agent_id: string | null
  threads: string[] | null
  room: string | null
  created_at: string
  created_by: string
  expires_at: string | null
  revoked_at: string | null
  browser: boolean
  person: string
  device: string
  address: string
  last_used_at: string | null
}

export interface RestEdit {
  version: number
  old_content: string
  edited_by: string
  created_at: string
}

export interface RestMessage {
  id: string
  seq: number
  author: string
  author_id: string | null
  author_name: string
  author_emoji: string
  role: "assistant" | "system" | "user"
  content: string
  created_at: string
  priority: string
  reply_to_msg_id: string | null
  metadata: string | null
  edited_at: string | null
  edit_version: number
  reactions: RestReaction[]
}

export interface RestReaction {
  id: string
  message_id: string
  agent_id: string
  agent_name: string
  reaction: string
  created_at: string
}

export interface RestTemplate {
  id: string
  name: string
  description: string
  is_builtin: boolean
  created_at: string
  system_prompt: string
  default_metadata: Record<string, unknown> | null
}

export interface RestThread {
  id: string
  topic: string
  status: "discuss" | "done" | "implement" | "review" | "archived" | "closed"
  system_prompt: string | null
  created_at: string
  updated_at: string
  waiting_agents: RestWaiter[]
  template_id: string | null
  current_seq: number
  message_count: number
  closed_at: string | null
  summary: string | null
  admin_id: string | null
  pinned: boolean
}

export interface RestThreadSettings {
  thread_id: string
  auto_administrator_enabled: boolean
  auto_coordinator_enabled: boolean
  timeout_seconds: number
  switch_timeout_seconds: number
  last_activity_time: string
  auto_assigned_admin_id: string | null
  auto_assigned_admin_name: string | null
  auto_assigned_admin_emoji: string | null
  admin_assignment_time: string | null
  creator_admin_id: string | null
  creator_admin_name: string | null
  creator_admin_emoji: string | null
  creator_assignment_time: string | null
  created_at: string
  updated_at: string
}

export interface RestWaitResult {
  messages: RestMessage[]
  current_seq: number
  reply_token: string | null
  reply_window?: ReplyWindow
  waiting_for_person?: WaitsForPerson[]
}

export interface RestWaiter {
  id: string
  display_name: string
  emoji: string
}

export interface RestoreBody {
  version?: number | null
  replaces?: number | null
}

export interface ResumeRunBody {
  prompt?: string
}

export interface ResumedAgent {
  agent_id: string
  name: string
  display_name: string
  alias_source: string
  emoji: string
  is_online: boolean
  last_heartbeat: string
  ok?: boolean
}

export interface RetryPolicy {
  max?: number
  backoff_s?: number
  factor?: number
  max_backoff_s?: number
  jitter?: number
  on?: ("expression" | "failed" | "interrupted" | "output" | "timeout")[]
}

export interface RetryWorkflowBody {
  step?: string | null
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
  note?: string
}

export interface RuleCheck {
  ok: boolean
  problems: string[]
  sentences: Sentence[]
}

export interface RuleChoice {
  what?: "exact" | "files" | "host" | "program" | "tool"
  who?: "all" | "profile"
  where?: "anywhere" | "folder"
  lasts?: "30d" | "90d" | "always" | "run"
  risk?: "" | "high"
}

export interface RuleDraft {
  name: string
  rule: Record<string, unknown>
}

export interface RuleTemplate {
  name: string
  words: string
  rules: ([string, Rule])[]
  sentences?: Record<string, Sentence>
}

export interface RuleTrial {
  judged: number
  fitting: number
  changed: number
  against_people: number
  answers: Record<string, number>
  lines: TrialLine[]
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
  error?: string | null
  waiting_for?: string | null
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

export interface RunShown {
  run: WorkflowRun
  facts: WorkflowFacts
  definition: WorkflowDefinition
  layers: string[][]
  steps: StepReport[]
}

export interface RunTree {
  tree: unknown
  runs: Run[]
}

export interface RunUsage {
  input_tokens?: number
  output_tokens?: number
  cost_usd?: number | null
}

export interface SamplePrompts {
  task: string
  reply: string
  say: string
}

export interface SearchResult {
  results: MessageHit[]
  total: number
  query: string
}

export interface Secret {
  path: string
  secret: string
  standard_secret: string
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

export interface SetThreadStateBody {
  state: "discuss" | "done" | "implement" | "review"
}

export interface SettingsChange {
  auto_administrator_enabled?: boolean | null
  auto_coordinator_enabled?: boolean | null
  timeout_seconds?: number | null
  switch_timeout_seconds?: number | null
}

export interface ShownReceiver {
  id: string
  name: string
}

export interface ShownServer {
  server: McpServer
  tools: ShownTool[]
}

export interface ShownTool {
  name: string
  offered_as: string
  state: "accepted" | "gone" | "held"
  risk: "high" | "low" | "medium"
  seen: DescribedTool
  accepted: DescribedTool | null
  accepted_by: string | null
  problem: string
  sentences?: Record<string, Sentence>
}

export interface SignalStepBody {
  step: string
  value?: unknown
}

export interface Signalled {
  ok?: boolean
}

export interface SkillText {
  name?: string
  description?: string
  text: string
}

export interface SnoozeAskBody {
  for_s?: number | null
  until?: number | null
}

export interface SteerRunBody {
  text: string
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

export interface StepReport {
  id: string
  name: string
  kind: "agent" | "gate" | "set" | "wait" | "workflow"
  status: "delayed" | "held" | "pending" | "queued" | "running" | "waiting" | "cancelled" | "completed" | "failed" | "skipped"
  profile: string | null
  agent: string | null
  attempts: AttemptReport[]
  began_at: number | null
  ended_at: number | null
  duration_ms: number | null
  spent: WorkflowUsage
  waits_for: string | null
  waits_kind: "ask" | "engine" | "message" | "run" | "time" | "webhook" | "workflow" | null
  waits_key: string
  reason: string | null
  error: string | null
  output: unknown
  total: number
  done: number
}

export interface Stopped {
  agent_id: string
  name: string
  process: string
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

export interface Suggestion {
  name: string
  rule: Rule
  times: number
  words: string
  sentences?: Record<string, Sentence>
}

export interface Sync {
  current_seq: number
  reply_token: string | null
  reply_window?: ReplyWindow
}

export interface ThreadNumbers {
  total: number
  by_status: Record<string, number>
}

export interface ThreadPage {
  threads: RestThread[]
  total: number
  has_more: boolean
  next_cursor: string | null
}

export interface TicketAnswer {
  ticket: string
  verdict: "answer" | "approve" | "deny"
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

export interface TranscriptEntry {
  id: string
  seq: number
  author: string
  author_id: string | null
  author_name: string
  author_emoji: string
  role: "assistant" | "system" | "user"
  content: string
  created_at: string
  priority: string
  reply_to_msg_id: string | null
  metadata: string | null
  edited_at: string | null
  edit_version: number
  reactions: RestReaction[]
  entry_kind: string
}

export interface TrialLine {
  judgement_id: string
  at: number
  tool: string
  words: string
  profile: string
  run_id: string
  was: string
  answer: string | null
  would: string
  fits: string
  rule: string
  why: string
  sentences?: Record<string, Sentence>
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
  error?: string | null
  minute?: number
  in_minute?: number
}

export interface UnreachedMessage {
  message_id: string
  unreached: UnreachedRecipient[]
}

export interface UnreachedRecipient {
  name: string
  why: string
  sentences?: Record<string, Sentence>
  agent_id?: string | null
  profile?: string | null
  remedy?: "" | "invite" | "wake"
}

export interface Verdict {
  decision: "allow" | "ask" | "deny"
  risk: "high" | "low" | "medium"
  rule: string
  why: string
  once?: string
  like?: string
  like_words?: string
  kind?: "execute" | "hub" | "network" | "other" | "plan" | "read" | "search" | "write"
  digest?: string
}

export interface VersionShown {
  name: string
  version: number
  digest: string
  definition: WorkflowDefinition
  made_at: number
  made_by: string
  made_by_name: string
  source: string
  text: string
  restored_from: number
}

export interface WaitConfig {
  seconds?: number | string | null
  until?: string | null
  message?: MessageFilter | null
  webhook?: string | null
}

export interface WaitState {
  thread_id: string
  agents_waiting: WaitingAgent[]
  count: number
  waiting_for_person?: WaitsForPerson[]
}

export interface WaitingAgent {
  agent_id: string | null
  entered_at: string
  timeout_ms: number
  wait_call_id: string
}

export interface WaitsForPerson {
  agent_id: string | null
  name: string
  kind: "decision" | "gate" | "permission" | "poll" | "question" | "report"
  since: string
}

export interface WithdrawAskBody {
  reason?: string
}

export interface WorkNumbers {
  runs: Record<string, number>
  active_runs: number
  runs_waiting_for_people: number
  open_asks: number
  usd_today: number
  tokens_today: number
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

export interface WorkflowBody {
  definition?: Record<string, unknown> | null
  text?: string | null
  source?: string
  version?: number | null
}

export interface WorkflowCheck {
  ok: boolean
  problems: Problem[]
  warnings?: Problem[]
  definition?: WorkflowDefinition | null
  picture?: Picture | null
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

export interface WorkflowReport {
  run: WorkflowRun
  steps: StepReport[]
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
  note?: string | null
  verdict?: "cancelled" | "completed" | "failed" | null
  takes_back?: boolean
  error?: string | null
  output?: unknown
  ended_at?: number | null
  spent?: WorkflowUsage
  waiting?: boolean
  waits_for?: PersonWait[]
}

export interface WorkflowShown {
  workflow: Workflow
  definition: WorkflowDefinition
  layers: string[][]
  text: string
}

export interface WorkflowText {
  text: string
  file?: string
}

export interface WorkflowUsage {
  input_tokens?: number
  output_tokens?: number
  cost_usd?: number
}

export interface WrongFile {
  file: string
  name: string | null
  problem: string
  sentences?: Record<string, Sentence>
}
