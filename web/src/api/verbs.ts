// Written by web/write_types.py from the Python source: change it there.

import type {
  AbortWorkflowBody,
  AcceptToolsBody,
  AmendStepBody,
  Ask,
  CancelRunBody,
  CloseThreadBody,
  DelegateAskBody,
  DeletedThread,
  ExtendRunBody,
  HoldToolsBody,
  KeptRule,
  KickedAgent,
  Node,
  Ok,
  PauseWorkflowBody,
  Profile,
  ProfileDefinition,
  PutRuleBody,
  RenameThreadBody,
  Renamed,
  ResumeRunBody,
  RetryWorkflowBody,
  Run,
  ServerDefinition,
  SetThreadStateBody,
  ShownServer,
  SignalStepBody,
  SnoozeAskBody,
  SteerRunBody,
  Stopped,
  TriggerState,
  WithdrawAskBody,
  WorkflowRun,
} from './types'
import { call } from './http'

/** Abort a run and everything that it started. */
export const abortWorkflow = (id: string, body: AbortWorkflowBody): Promise<WorkflowRun> =>
  call('POST', `/api/workflow-runs/${encodeURIComponent(id)}/abort`, body)

/** Accept held tools. */
export const acceptTools = (id: string, body: AcceptToolsBody): Promise<ShownServer> =>
  call('POST', `/api/servers/${encodeURIComponent(id)}/accept`, body)

/** Change a step that has not started or will be retried. */
export const amendStep = (id: string, body: AmendStepBody): Promise<WorkflowRun> =>
  call('POST', `/api/workflow-runs/${encodeURIComponent(id)}/amend`, body)

/** Archive a thread. */
export const archiveThread = (id: string): Promise<Ok> =>
  call('POST', `/api/threads/${encodeURIComponent(id)}/archive`, {})

/** Arm a trigger. */
export const armTrigger = (id: string): Promise<TriggerState> =>
  call('POST', `/api/triggers/${encodeURIComponent(id)}/arm`, {})

/** Disarm a trigger. */
export const disarmTrigger = (id: string): Promise<TriggerState> =>
  call('POST', `/api/triggers/${encodeURIComponent(id)}/disarm`, {})

/** Cancel a run and all runs below it. */
export const cancelRun = (id: string, body: CancelRunBody): Promise<Run> =>
  call('POST', `/api/runs/${encodeURIComponent(id)}/cancel`, body)

/** Close a thread. */
export const closeThread = (id: string, body: CloseThreadBody): Promise<Ok> =>
  call('POST', `/api/threads/${encodeURIComponent(id)}/close`, body)

/** Delegate an ask: show it to other people. */
export const delegateAsk = (id: string, body: DelegateAskBody): Promise<Ask> =>
  call('POST', `/api/asks/${encodeURIComponent(id)}/delegate`, body)

/** Remove a profile. */
export const deleteProfile = (id: string): Promise<void> =>
  call('DELETE', `/api/profiles/${encodeURIComponent(id)}`)

/** Remove a template. */
export const deleteTemplate = (id: string): Promise<void> =>
  call('DELETE', `/api/templates/${encodeURIComponent(id)}`)

/** Delete a thread and everything in it. */
export const deleteThread = (id: string): Promise<DeletedThread> =>
  call('DELETE', `/api/threads/${encodeURIComponent(id)}`)

/** Delete a workflow; its runs continue, and its versions can be restored. */
export const deleteWorkflow = (id: string): Promise<void> =>
  call('DELETE', `/api/workflows/${encodeURIComponent(id)}`)

/** Give a node no new agents; it keeps the ones that it has. */
export const drainNode = (id: string): Promise<Node> =>
  call('POST', `/api/nodes/${encodeURIComponent(id)}/drain`, {})

/** End a kept agent's process; you can call it again. */
export const endAgent = (id: string): Promise<Stopped> =>
  call('POST', `/api/agents/${encodeURIComponent(id)}/stop`, {})

/** Resume a paused run. */
export const extendRun = (id: string, body: ExtendRunBody): Promise<Run> =>
  call('POST', `/api/runs/${encodeURIComponent(id)}/extend`, body)

/** Hold tools: hide them from agents. */
export const holdTools = (id: string, body: HoldToolsBody): Promise<ShownServer> =>
  call('POST', `/api/servers/${encodeURIComponent(id)}/hold`, body)

/** Remove an agent and revoke its credentials. */
export const kickAgent = (id: string): Promise<KickedAgent> =>
  call('POST', `/api/agents/${encodeURIComponent(id)}/kick`, {})

/** Pause a run: start no new steps. */
export const pauseWorkflow = (id: string, body: PauseWorkflowBody): Promise<WorkflowRun> =>
  call('POST', `/api/workflow-runs/${encodeURIComponent(id)}/pause`, body)

/** Pin a thread to the top of the lists. */
export const pinThread = (id: string): Promise<Ok> =>
  call('POST', `/api/threads/${encodeURIComponent(id)}/pin`, {})

/** Create or replace a profile. */
export const putProfile = (id: string, body: ProfileDefinition): Promise<Profile> =>
  call('PUT', `/api/profiles/${encodeURIComponent(id)}`, body)

/** Add or replace a rule. */
export const putRule = (id: string, body: PutRuleBody): Promise<KeptRule> =>
  call('PUT', `/api/policy/rules/${encodeURIComponent(id)}`, body)

/** Register or change an MCP server. */
export const putServer = (id: string, body: ServerDefinition): Promise<ShownServer> =>
  call('PUT', `/api/servers/${encodeURIComponent(id)}`, body)

/** Remove a channel. */
export const removeChannel = (id: string): Promise<void> =>
  call('DELETE', `/api/notify/channels/${encodeURIComponent(id)}`)

/** Remove a node and revoke its credential; refused while agents work there, unless forced. */
export const removeNode = (id: string): Promise<void> =>
  call('DELETE', `/api/nodes/${encodeURIComponent(id)}`)

/** Remove a rule. */
export const removeRule = (id: string): Promise<void> =>
  call('DELETE', `/api/policy/rules/${encodeURIComponent(id)}`)

/** Remove an MCP server. */
export const removeServer = (id: string): Promise<void> =>
  call('DELETE', `/api/servers/${encodeURIComponent(id)}`)

/** Rename a thread. */
export const renameThread = (id: string, body: RenameThreadBody): Promise<Renamed> =>
  call('POST', `/api/threads/${encodeURIComponent(id)}/rename`, body)

/** Resume an interrupted run. */
export const resumeRun = (id: string, body: ResumeRunBody): Promise<Run> =>
  call('POST', `/api/runs/${encodeURIComponent(id)}/resume`, body)

/** Resume a paused run. */
export const resumeWorkflow = (id: string): Promise<WorkflowRun> =>
  call('POST', `/api/workflow-runs/${encodeURIComponent(id)}/resume`, {})

/** Retry a run that is over, keeping finished steps. */
export const retryWorkflow = (id: string, body: RetryWorkflowBody): Promise<WorkflowRun> =>
  call('POST', `/api/workflow-runs/${encodeURIComponent(id)}/retry`, body)

/** Revoke a credential at once, on open connections too. */
export const revokeCredential = (id: string): Promise<Ok> =>
  call('DELETE', `/api/credentials/${encodeURIComponent(id)}`)

/** Revoke a grant. */
export const revokeGrant = (id: string): Promise<void> =>
  call('DELETE', `/api/policy/grants/${encodeURIComponent(id)}`)

/** Set the state of a thread. */
export const setThreadState = (id: string, body: SetThreadStateBody): Promise<Ok> =>
  call('POST', `/api/threads/${encodeURIComponent(id)}/state`, body)

/** Give a waiting step its value. */
export const signalStep = (id: string, body: SignalStepBody): Promise<WorkflowRun> =>
  call('POST', `/api/workflow-runs/${encodeURIComponent(id)}/signal`, body)

/** Snooze an ask. */
export const snoozeAsk = (id: string, body: SnoozeAskBody): Promise<Ask> =>
  call('POST', `/api/asks/${encodeURIComponent(id)}/snooze`, body)

/** Send a message to the agent. */
export const steerRun = (id: string, body: SteerRunBody): Promise<Run> =>
  call('POST', `/api/runs/${encodeURIComponent(id)}/steer`, body)

/** Unarchive a thread. */
export const unarchiveThread = (id: string): Promise<Ok> =>
  call('POST', `/api/threads/${encodeURIComponent(id)}/unarchive`, {})

/** Give a node new agents again. */
export const undrainNode = (id: string): Promise<Node> =>
  call('POST', `/api/nodes/${encodeURIComponent(id)}/undrain`, {})

/** Unpin a thread. */
export const unpinThread = (id: string): Promise<Ok> =>
  call('POST', `/api/threads/${encodeURIComponent(id)}/unpin`, {})

/** Withdraw an ask. */
export const withdrawAsk = (id: string, body: WithdrawAskBody): Promise<Ask> =>
  call('POST', `/api/asks/${encodeURIComponent(id)}/withdraw`, body)
