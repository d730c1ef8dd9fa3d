import { createHmac, hash, randomBytes } from 'node:crypto'
import { DomainError, fail } from '../../base/errors.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { deriveKeys, type ServerSecret } from '../../platform/secret/index.ts'
import { type Account, accountRows, type Scope } from '../accounts/index.ts'
import { type Audit, type AuditActor, accountAction } from '../audit/index.ts'
import { PasswordAttempts } from '../passwords/index.ts'
import type { ApiTokens, SignedInBy } from './api-tokens.ts'
import type { CredentialNotice } from './credential-notice.ts'
import {
  approveDevice,
  countOpenDevices,
  countPendingDevices,
  type DeviceAccess,
  type DeviceRequest,
  deleteDevice,
  deleteDevicesBefore,
  deleteOldestPending,
  denyDevice,
  findDevice,
  findPendingDevice,
  insertDeviceAuthorization,
  listWaitingNetworks,
  lockDevice,
  type PendingDevice,
  recordPoll,
  type WaitingNetwork,
} from './device-authorization-store.ts'
import { type ScopedTokens, tokenPermissions } from './scoped-tokens.ts'

const LIFE_SECONDS = 600
/** Clients that poll after the end are told so for this long. */
const ENDED_KEPT_SECONDS = 3600
const POLL_SECONDS = 5
/** RFC 8628, 3.5: "slow_down … the interval MUST be increased by 5 seconds for this and all subsequent requests". */
const SLOWER_BY_SECONDS = 5
const MAX_POLL_SECONDS = 60
/** Nodes and networks are not exact: a poll that is early by this much is on time. */
const EARLY_SECONDS = 1
/** Open requests of one network, and pending ones of all networks. Anybody can make them. */
const MAX_OPEN_PER_NETWORK = 20
const MAX_PENDING = 1000
/** Consonants, so that no words are spelled, as RFC 8628, 6.1 proposes: 20 ** 8 codes. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LENGTH = 8
/** The row of the attempts table that serializes new requests on all nodes. Other rows are named by hashes. */
const LOCKED_SUBJECT = 'device authorizations'

interface DeviceAuthorizationsOptions {
  readonly db: Database
  readonly apiTokens: ApiTokens
  readonly scopedTokens: ScopedTokens
  readonly secret: ServerSecret
  /** Unix seconds. */
  readonly now: () => number
  /** False disables the throttle of wrong codes, for tests and trusted networks. */
  readonly rateLimit: boolean
  readonly audit: Audit
  readonly onAdded: CredentialNotice
}

/** The codes of a new request. Only the client gets the device code; the person types the user code. */
interface DeviceCodes {
  readonly deviceCode: string
  readonly userCode: string
  /** Seconds. */
  readonly expiresIn: number
  readonly interval: number
}

/** The response to a poll, in the terms of RFC 8628, 3.5. */
type PollOutcome =
  | { readonly token: string; readonly access: Scope['access']; readonly expiresAt: number | undefined }
  | {
      readonly error:
        | 'authorization_pending'
        | 'slow_down'
        | 'access_denied'
        | 'expired_token'
        | 'invalid_grant'
    }

/** The response to a poll of a client that signs in through a browser. */
type SessionOutcome = 'waiting' | 'refused' | { readonly email: string; readonly token: string }

/** What a person grants to a client. */
interface DeviceGrant<Access extends DeviceAccess = DeviceAccess> {
  readonly name: string
  readonly access: Access
  /** Unix seconds; undefined for never. */
  readonly expiresAt: number | undefined
}

interface Approver {
  readonly accountKey: number | undefined
  readonly epoch: number | undefined
}

/**
 * Sign-in of a client without a browser, by the device authorization grant of RFC 8628: the client shows a code, a signed-in person confirms it
 * in the web app, and the client gets a personal token. Clients that open a browser themselves open it with the device code, which leads to the
 * user code, and get a session of the account. Either is created when the client fetches it, so that none exists that nobody has.
 * Codes are stored as hashes: that of the user code is keyed, because it is short.
 */
export class DeviceAuthorizations {
  readonly #options: DeviceAuthorizationsOptions
  readonly #key: Buffer
  readonly #throttle: PasswordAttempts | undefined

  constructor(options: DeviceAuthorizationsOptions) {
    const { db, secret, now, rateLimit } = options
    this.#options = options
    this.#key = deriveKeys(secret, 'user codes of devices')[0]
    this.#throttle = rateLimit ? new PasswordAttempts(db, secret, now, 'wrong user codes') : undefined
  }

  /** Throws too-many-tries if too many requests of the network are open. Those of other networks never prevent one. */
  async begin(request: DeviceRequest, network: string): Promise<DeviceCodes> {
    const { db, now } = this.#options
    return db.write(async (tx) => {
      const createdAt = now()
      // Nodes count one after another, so that the limits are exact.
      await PasswordAttempts.lock(tx, LOCKED_SUBJECT, createdAt)
      const open = await countOpenDevices(tx, createdAt, network)
      if (open.count >= MAX_OPEN_PER_NETWORK) {
        fail({ code: 'too-many-tries', seconds: Math.max(1, open.firstEnd - createdAt) })
      }
      await makeRoom(tx, createdAt)
      const row = {
        ...request,
        network,
        createdAt,
        expiresAt: createdAt + LIFE_SECONDS,
        pollInterval: POLL_SECONDS,
      }
      for (;;) {
        const deviceCode = randomBytes(32).toString('hex')
        const userCode = this.userCodeOf(deviceCode)
        const codes = { deviceHash: hashOf(deviceCode), userHash: this.#userHash(userCode) }
        if (!(await insertDeviceAuthorization(tx, { ...row, ...codes }))) continue
        return { deviceCode, userCode, expiresIn: LIFE_SECONDS, interval: POLL_SECONDS }
      }
    })
  }

  /** The user code of a device code, for example `WDJB-MJHT`: the server derives it, so that a link with the device code leads to it. */
  userCodeOf(deviceCode: string): string {
    const digest = createHmac('sha256', this.#key).update('user code of ').update(deviceCode).digest()
    const letters = Array.from(
      digest.subarray(0, CODE_LENGTH),
      (byte) => LETTERS[byte % LETTERS.length],
    ).join('')
    return `${letters.slice(0, CODE_LENGTH / 2)}-${letters.slice(CODE_LENGTH / 2)}`
  }

  /**
   * The request with a user code; undefined if there is none that waits. Wrong codes are counted for all nodes together. Throws too-many-tries.
   */
  async find(account: Account, network: string, userCode: string): Promise<PendingDevice | undefined> {
    const { db, now } = this.#options
    const wait = await this.#throttle?.begin(account.email, { network })
    if (wait !== undefined) fail({ code: 'too-many-tries', seconds: wait })
    const found = await findPendingDevice(db, this.#userHash(userCode), now())
    // Not all wrong codes before are forgiven: everybody can have a right one.
    if (found !== undefined) await this.#throttle?.cancel(account.email, { network })
    return found
  }

  /** False if no such request waits: one for a session is approved as that, and no other. Throws too-many-tries, limit-reached, account-not-found. */
  async approve(
    account: Account,
    network: string,
    userCode: string,
    grant: DeviceGrant,
    by: AuditActor,
  ): Promise<boolean> {
    const { audit, db, now, scopedTokens } = this.#options
    const found = await this.find(account, network, userCode)
    if (found === undefined) return false
    const { access } = grant
    const isSession = access === 'session'
    if ((found.access === 'session') !== isSession) return false
    return db.write(async (tx) => {
      if (!(await accountRows.lockActive(tx, account)))
        fail({ code: 'account-not-found', email: account.email })
      if (!isSession) await scopedTokens.checkPersonalCount(tx, account)
      const approval = {
        accountKey: account.key,
        epoch: account.epoch,
        access,
        tokenName: grant.name,
        tokenExpiresAt: grant.expiresAt,
      }
      const isApproved = await approveDevice(tx, this.#userHash(userCode), approval, now())
      const permission = isSession ? access : tokenPermissions[access]
      const detail = { token: grant.name, permission }
      if (isApproved) await audit.record(tx, by, accountAction('device-approved', account.email, detail))
      return isApproved
    })
  }

  /** False if no such request waits. Throws too-many-tries. */
  async deny(account: Account, network: string, userCode: string, by: AuditActor): Promise<boolean> {
    const { audit, db, now } = this.#options
    if ((await this.find(account, network, userCode)) === undefined) return false
    return db.write(async (tx) => {
      const isDenied = await denyDevice(tx, this.#userHash(userCode), now())
      if (isDenied) await audit.record(tx, by, accountAction('device-denied', account.email))
      return isDenied
    })
  }

  /** The token, once: the request is deleted with its use. */
  async poll(clientId: string, deviceCode: string, address: string): Promise<PollOutcome> {
    const { db, now } = this.#options
    const deviceHash = hashOf(deviceCode)
    return db.write(async (tx): Promise<PollOutcome> => {
      const at = now()
      const device = await lockDevice(tx, deviceHash)
      if (device?.clientId !== clientId || device.access === 'session') return { error: 'invalid_grant' }
      if (device.expiresAt <= at) return { error: 'expired_token' }
      if (device.state === 'denied') return { error: 'access_denied' }
      if (device.state === 'pending') {
        const { polledAt, pollInterval } = device
        const isEarly = polledAt !== undefined && at - polledAt < pollInterval - EARLY_SECONDS
        const interval = isEarly ? Math.min(pollInterval + SLOWER_BY_SECONDS, MAX_POLL_SECONDS) : pollInterval
        await recordPoll(tx, deviceHash, { at, interval })
        return { error: isEarly ? 'slow_down' : 'authorization_pending' }
      }
      await deleteDevice(tx, deviceHash)
      const grant = { name: device.tokenName, access: device.access, expiresAt: device.tokenExpiresAt }
      const token = await this.#issue(tx, device, grant, address)
      if (token === undefined) return { error: 'access_denied' }
      return { token, access: grant.access, expiresAt: grant.expiresAt }
    })
  }

  /**
   * The token of a session, once, for a client that asked for one; undefined if no such request is known. Clients poll every 2 to 10 seconds, so
   * one that waits writes nothing.
   */
  async pollSession(
    deviceCode: string,
    client: SignedInBy & { readonly address: string },
  ): Promise<SessionOutcome | undefined> {
    const { apiTokens, audit, db, now, onAdded } = this.#options
    const deviceHash = hashOf(deviceCode)
    const found = await findDevice(db, deviceHash)
    if (found?.access !== 'session') return undefined
    if (found.expiresAt <= now() || found.state === 'denied') return 'refused'
    if (found.state === 'pending') return 'waiting'
    return db.write(async (tx) => {
      const approved = await lockDevice(tx, deviceHash)
      if (approved === undefined) return undefined
      if (approved.state !== 'approved') return 'refused'
      await deleteDevice(tx, deviceHash)
      const account = await this.#approver(tx, approved)
      if (account === undefined || !(await accountRows.lockActive(tx, account))) return 'refused'
      const token = await apiTokens.issueIn(tx, account, approved.device, client)
      const { email } = account
      const { address } = client
      const name = approved.tokenName
      const action = accountAction('login', email, { via: 'client-sso', client: name })
      await audit.record(tx, { actor: email, address }, action)
      await onAdded(tx, account, { kind: 'device', name, address })
      return { email, token }
    })
  }

  /** Maintenance. */
  deleteExpired(): Promise<number> {
    const { db, now } = this.#options
    return db.write((tx) => deleteDevicesBefore(tx, now() - ENDED_KEPT_SECONDS), { durable: false })
  }

  /** The account that approved; undefined if its credentials ended meanwhile. */
  async #approver(tx: Transaction, { accountKey, epoch }: Approver): Promise<Account | undefined> {
    const account = accountKey === undefined ? undefined : await accountRows.findByKey(tx, accountKey)
    return account?.epoch === epoch ? account : undefined
  }

  /** Undefined if the account may not have it any more. */
  async #issue(
    tx: Transaction,
    approver: Approver,
    grant: DeviceGrant<Scope['access']>,
    address: string,
  ): Promise<string | undefined> {
    const account = await this.#approver(tx, approver)
    if (account === undefined) return undefined
    try {
      const by = { actor: account.email, address }
      const { scopedTokens } = this.#options
      return (await scopedTokens.issuePersonalIn(tx, account, grant, by, 'device')).token
    } catch (error) {
      const isRefused =
        error instanceof DomainError &&
        (error.fault.code === 'account-not-found' || error.fault.code === 'limit-reached')
      if (!isRefused) throw error
      return undefined
    }
  }

  #userHash(userCode: string): Buffer {
    return createHmac('sha256', this.#key).update(plainUserCode(userCode)).digest()
  }
}

/** Evicts a pending request if there are too many: refusing the new one would let a few clients block the sign-in by a code for all. */
async function makeRoom(tx: Transaction, now: number): Promise<void> {
  if ((await countPendingDevices(tx, now)) < MAX_PENDING) return
  const evicted = mostWaiting(await listWaitingNetworks(tx, now))
  if (evicted !== undefined) await deleteOldestPending(tx, evicted.network, now)
}

/**
 * The network with the most pending requests, of the provider with the most: somebody may have many addresses, but they are neighbors. Of equal ones, the
 * one with the oldest request.
 */
function mostWaiting(networks: readonly WaitingNetwork[]): WaitingNetwork | undefined {
  const byProvider = new Map<string, number>()
  for (const { network, count } of networks) {
    const provider = providerOf(network)
    byProvider.set(provider, (byProvider.get(provider) ?? 0) + count)
  }
  const ofProvider = ({ network }: WaitingNetwork) => byProvider.get(providerOf(network)) ?? 0
  const [most] = [...networks].sort(
    (one, other) => ofProvider(other) - ofProvider(one) || other.count - one.count || one.first - other.first,
  )
  return most
}

/** The first three parts of an address: an IPv4 /24, or an IPv6 /48. */
function providerOf(network: string): string {
  const separator = network.includes(':') ? ':' : '.'
  return network.split(separator, 3).join(separator)
}

/** People type it in lower case, without the hyphen or with spaces. */
function plainUserCode(text: string): string {
  return text.toUpperCase().replace(/[^A-Z0-9]/g, '')
}

function hashOf(deviceCode: string): Buffer {
  return hash('sha256', deviceCode, 'buffer')
}
