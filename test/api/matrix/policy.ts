import type { CallOptions, Client } from '../../support/client.ts'
import type { Stage } from './stage.ts'

/**
 * What a call comes to. `unauthorised`: 401 or 403 for want of credentials. `denied`: 403. `absent`: 404. `empty`: an
 * answer that tells and does nothing. A number is another refusal a route has for this, as its documents say.
 */
export type Outcome = 'ok' | 'denied' | 'absent' | 'unauthorised' | 'empty' | number

/** The outcome for each caller; the names of the callers depend on what opens a route. */
export type Policy = Readonly<Record<string, Outcome>>

/** A call as somebody who may make it would. */
export interface Sent extends CallOptions {
  /** For segments of the path that are not the library. */
  readonly params?: Record<string, string | number>
  /** Whoever calls, where it is not the account the caller is named after. */
  readonly as?: Client
  /** For an answer that has no end. */
  readonly headOnly?: boolean
}

export interface Entry {
  readonly policy: Policy
  readonly send: (stage: Stage, caller: string) => Sent | Promise<Sent>
}

/** Every route of the router by method and path. */
export type Table = Readonly<Record<string, Entry>>

const signedOut = { anonymous: 'unauthorised', deactivated: 'unauthorised', revoked: 'unauthorised' } as const

/** Whoever is signed in, for themselves. */
export const self: Policy = {
  ...signedOut,
  stranger: 'ok',
  folderReader: 'ok',
  reader: 'ok',
  groupMember: 'ok',
  writer: 'ok',
  manager: 'ok',
  owner: 'ok',
  administrator: 'ok',
}

/** As self, of which nobody but those named get anything. */
export const nobody: Policy = Object.fromEntries(
  Object.entries(self).map(([caller, outcome]) => [caller, outcome === 'ok' ? 'denied' : outcome]),
)

export const owns: Policy = { ...nobody, owner: 'ok' }
export const manages: Policy = { ...owns, manager: 'ok' }
export const writes: Policy = { ...manages, writer: 'ok' }
export const reads: Policy = { ...writes, reader: 'ok', groupMember: 'ok' }
export const administers: Policy = { ...nobody, administrator: 'ok' }
/** Anybody, whatever they show. */
export const open: Policy = Object.fromEntries(Object.keys(self).map((caller) => [caller, 'ok']))

/** The same for all callers who are signed in and get nothing by `policy`. */
export function otherwise(policy: Policy, outcome: Outcome): Policy {
  return Object.fromEntries(
    Object.entries(policy).map(([caller, usual]) => [caller, usual === 'denied' ? outcome : usual]),
  )
}

type Sends = Sent | ((stage: Stage, caller: string) => Sent | Promise<Sent>)

/** Entries with one policy. */
export function under(policy: Policy, routes: Record<string, Sends>): Table {
  return Object.fromEntries(
    Object.entries(routes).map(([name, sends]): [string, Entry] => {
      return [name, { policy, send: typeof sends === 'function' ? sends : () => sends }]
    }),
  )
}
