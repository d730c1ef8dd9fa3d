import type { Endpoint } from '../../../src/platform/http/route.ts'
import type { CallOptions, Client } from '../../support/client.ts'
import type { Stage } from './stage.ts'

/**
 * The outcome of a call. `unauthorised`: 401 or 403 without valid credentials. `denied`: 403. `absent`: 404. `empty`: a
 * response without content or effect. `shut`: any rejection, or such a response. A number is another documented rejection status.
 */
export type Outcome = 'ok' | 'denied' | 'absent' | 'unauthorised' | 'empty' | 'shut' | number

/** The outcome per caller. The names of the callers depend on the credential of the route. */
export type Policy = Readonly<Record<string, Outcome>>

/** The call as a permitted caller makes it. */
export interface Sent extends CallOptions {
  /** For path segments other than the library. */
  readonly params?: Record<string, string | number>
  /** The rest of the path of a route that matches every path below its own. */
  readonly below?: string
  /** The client, if it is not the account the caller is named after. */
  readonly as?: Client
  /** For a response without an end. */
  readonly headOnly?: boolean
}

export interface Entry {
  readonly policy: Policy
  readonly send: (stage: Stage, caller: string) => Sent | Promise<Sent>
}

/** Every route of the router by method and path. */
export type Table = Readonly<Record<string, Entry>>

const signedOut = { anonymous: 'unauthorised', deactivated: 'unauthorised', revoked: 'unauthorised' } as const

/** Every signed-in account, for itself. */
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

/** Like self, but only the named ones get content. */
export const nobody: Policy = Object.fromEntries(
  Object.entries(self).map(([caller, outcome]) => [caller, outcome === 'ok' ? 'denied' : outcome]),
)

export const owns: Policy = { ...nobody, owner: 'ok' }
export const manages: Policy = { ...owns, manager: 'ok' }
export const writes: Policy = { ...manages, writer: 'ok' }
export const reads: Policy = { ...writes, reader: 'ok', groupMember: 'ok' }
export const administers: Policy = { ...nobody, administrator: 'ok' }
/** Everybody, with any credential or none. */
export const open: Policy = Object.fromEntries(Object.keys(self).map((caller) => [caller, 'ok']))

/** The same outcome for all signed-in callers that get nothing by `policy`. */
export function otherwise(policy: Policy, outcome: Outcome): Policy {
  return Object.fromEntries(
    Object.entries(policy).map(([caller, usual]) => [caller, usual === 'denied' ? outcome : usual]),
  )
}

/** A policy extended by the owner's scoped tokens: one for reading, one for another library. */
export function withBounds({ auth, scope }: Endpoint, policy: Policy): Policy {
  const { anonymous, reader, stranger } = policy
  if (!['user', 'admin'].includes(auth) || reader === undefined || anonymous === 'ok') return policy
  if (scope === 'none') return { ...policy, readingToken: 'unauthorised', elsewhereToken: 'unauthorised' }
  // The outcome of `any` depends on the requested content.
  const readingToken =
    scope === 'any' ? undefined : scope === 'read' && reader === 'ok' ? 'ok' : 'unauthorised'
  const elsewhereToken = stranger === 'ok' ? 'ok' : 'shut'
  return { ...policy, ...(readingToken !== undefined && { readingToken }), elsewhereToken }
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
