import type { LockCall, LockGrant } from './lock-client.ts'

/** From the supervisor to a worker. A connection is sent along with `connection`. */
export type SupervisorMessage =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  | { readonly kind: 'listening'; readonly address: string; readonly port: number }
  | { readonly kind: 'listen-failed'; readonly code: string }
  | { readonly kind: 'connection' }
  | LockGrant
  /** Asks for the metrics of this process. */
  | { readonly kind: 'collect'; readonly id: number }
  /** The metrics of all processes. */
  | { readonly kind: 'collected'; readonly id: number; readonly metrics: readonly unknown[] }
  | { readonly kind: 'stop' }

/** From a worker to the supervisor. */
export type WorkerMessage =
  | { readonly kind: 'listen'; readonly host: string; readonly port: number }
  /** Everything is open. `report` is for the caller of the supervisor. */
  | { readonly kind: 'ready'; readonly report: unknown }
  /** A connection has arrived. */
  | { readonly kind: 'accepted' }
  | LockCall
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: unknown }
  /** Asks for the metrics of all processes. */
  | { readonly kind: 'collect-all'; readonly id: number }
  /** Sent regularly: a process that does not is killed. */
  | { readonly kind: 'alive'; readonly connections: number }

/** What a worker has to know to start. */
export interface WorkerStart {
  /** Counts the processes from 1. A process that replaces a dead one has its number. */
  readonly number: number
  /** Of the processes of this server. */
  readonly count: number
  /** The id of the process as a node. */
  readonly nodeId: string
  /** No other process of this server is running. */
  readonly isAlone: boolean
  /** The node that is known to be dead: of the process that this one replaces, or of an earlier server. */
  readonly deadNodeId: string | undefined
  /** Of the program: its settings. */
  readonly input: unknown
}

/** With this signal a worker ends itself after a disk failure, so that the supervisor does not start another one. */
export const DISK_FAILED = 'SIGUSR2'
