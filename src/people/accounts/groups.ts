import { fail, refuseAtLimit, rowLimits } from '../../base/errors.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Audit, AuditAction, AuditActor, AuditedAction } from '../audit/index.ts'
import { type Account, displayName } from './account.ts'
import { findAccountByKey } from './account-store.ts'
import type { GroupDependent } from './dependents.ts'
import { type Group, type Membership, parseGroupName } from './group.ts'
import {
  acceptMembership,
  adminsOf,
  countGroups,
  countGroupsOf,
  countMembers,
  countMemberships,
  deleteGroup,
  deleteHeldMembership,
  deleteMember,
  deleteMemberships,
  findGroup,
  findGroups,
  findMembership,
  groupsOf,
  haveCommonGroup,
  insertGroup,
  insertMember,
  listGroups,
  listHeldMemberships,
  listMembers,
  type Member,
  memberKeys,
  setGroupName,
  setGroupOwner,
  setMemberAdmin,
  successorsOf,
} from './group-store.ts'
import { roleAllows } from './roles.ts'

/** Groups of one owner that an account can be added to: what is shared with them is in all its listings. */
const MAX_GROUPS_WITH_MEMBER = 50

/**
 * All groups. Callbacks `also` write further rows in the same transaction. Each method states who may call it
 * and throws for everybody else.
 */
export class Groups {
  readonly #db: Database
  readonly #audit: Audit
  readonly #now: () => number
  readonly #record: GroupRecorder
  readonly #holdsNewGivers: boolean

  readonly #dependents: readonly GroupDependent[]

  constructor(parts: {
    readonly db: Database
    readonly audit: Audit
    /** Unix seconds. */
    readonly now: () => number
    readonly dependents: readonly GroupDependent[]
    readonly record: GroupRecorder
    /** Whether a member added by somebody it is in no group with has to accept the membership first. */
    readonly holdsNewGivers?: boolean
  }) {
    this.#db = parts.db
    this.#audit = parts.audit
    this.#now = parts.now
    this.#dependents = parts.dependents
    this.#record = parts.record
    this.#holdsNewGivers = parts.holdsNewGivers ?? false
  }

  /** Throws role-forbids, group-name-invalid, group-exists, limit-reached. */
  async create(owner: Account, wantedName: string, by: AuditActor | undefined): Promise<Group> {
    if (!roleAllows(owner.role, 'add-group')) fail({ code: 'role-forbids', action: 'add-group' })
    const name = parseGroupName(wantedName) ?? fail({ code: 'group-name-invalid', name: wantedName })
    return this.#db.write(async (tx) => {
      await refuseAtLimit('groups', (most) => countGroupsOf(tx, owner.key, most))
      const group = await insertGroup(tx, name, owner.key, this.#now())
      if (group === undefined) return fail({ code: 'group-exists', name })
      await insertMember(tx, group.key, owner.key, true, this.#now())
      const detail = by?.actor === owner.email ? {} : { owner: owner.email }
      await this.#audit.record(tx, by, groupAction('group-made', group, detail))
      return group
    })
  }

  /** The groups of an account, ordered by name. */
  of(account: Account): Promise<Membership[]> {
    return groupsOf(this.#db, account.key)
  }

  find(key: number): Promise<Group | undefined> {
    return findGroup(this.#db, key)
  }

  async findMany(keys: Iterable<number>): Promise<Map<number, Group>> {
    const found = await findGroups(this.#db, [...new Set(keys)])
    return new Map(found.map((group) => [group.key, group]))
  }

  /** A page of all groups, newest first, and whether there is another. For administrators of the server. */
  async listPage(
    { name }: { name: string | undefined },
    { page, perPage }: { page: number; perPage: number },
  ): Promise<{ groups: Group[]; more: boolean }> {
    const offset = (page - 1) * perPage
    const found = await listGroups(this.#db, { name, limit: perPage + 1, offset })
    return { groups: found.slice(0, perPage), more: found.length > perPage }
  }

  count(): Promise<number> {
    return countGroups(this.#db)
  }

  /** For members. Throws group-not-found, permission-denied. */
  async get(user: Account, key: number): Promise<Membership> {
    const membership = await findMembership(this.#db, key, user.key)
    if (membership !== undefined) return membership
    if ((await findGroup(this.#db, key)) === undefined) fail({ code: 'group-not-found', id: key })
    return fail({ code: 'permission-denied' })
  }

  /** For administrators of the group. Throws as get. */
  async administered(user: Account, key: number): Promise<Membership> {
    const membership = await this.get(user, key)
    return membership.isAdmin ? membership : fail({ code: 'permission-denied' })
  }

  /** For the owner. Throws as get. */
  async owned(user: Account, key: number): Promise<Membership> {
    const membership = await this.get(user, key)
    return membership.group.ownerKey === user.key ? membership : fail({ code: 'permission-denied' })
  }

  /** E-mails of the administrators, by group key. */
  adminsOf(groups: readonly Group[]): Promise<Map<number, string[]>> {
    return adminsOf(
      this.#db,
      groups.map(({ key }) => key),
    )
  }

  members(
    group: Group,
    page: { limit?: number; offset?: number; onlyAdmins?: boolean } = {},
  ): Promise<Member[]> {
    return listMembers(this.#db, group.key, { limit: rowLimits.members, ...page })
  }

  /** Members that contain `text` in their id, name or contact e-mail. */
  async searchMembers(group: Group, text: string): Promise<Member[]> {
    const wanted = text.toLowerCase()
    const members = await this.members(group)
    return members.filter(({ account }) =>
      [account.email, displayName(account), account.contactEmail].some((one) =>
        one.toLowerCase().includes(wanted),
      ),
    )
  }

  async member(group: Group, account: Account): Promise<Member | undefined> {
    const found = await findMembership(this.#db, group.key, account.key)
    return found && { account, isAdmin: found.isAdmin }
  }

  /** For administrators of the group. Audited if the name differs. Throws group-name-invalid, group-exists. */
  async rename({ group }: Membership, wantedName: string, by: AuditActor | undefined): Promise<Group> {
    const name = parseGroupName(wantedName) ?? fail({ code: 'group-name-invalid', name: wantedName })
    await this.#db.write(async (tx) => {
      const before = await findGroup(tx, group.key)
      if (!(await setGroupName(tx, group.key, name))) fail({ code: 'group-exists', name })
      if (before?.name !== name)
        await this.#audit.record(tx, by, groupAction('group-changed', group, { to: name }))
    })
    return { ...group, name }
  }

  /**
   * The new owner becomes a member and administrator, and the old one stays a member. For the owner. Throws, except for administrators of
   * the server, limit-reached, and permission-denied if memberships are held and the new owner has not accepted one.
   */
  async transfer(membership: Membership, to: Account, by: AuditActor | undefined): Promise<Group> {
    const { group, accountKey } = membership
    await this.#db.write(async (tx) => {
      if (membership.actsAsOwner !== true) {
        await refuseAtLimit('groups', (most) => countGroupsOf(tx, to.key, most))
        const isMember = (await findMembership(tx, group.key, to.key)) !== undefined
        if (this.#holdsNewGivers && !isMember) fail({ code: 'permission-denied' })
      }
      if (!(await setGroupOwner(tx, group.key, group.ownerKey, to.key))) fail({ code: 'permission-denied' })
      const isNew = await insertMember(tx, group.key, to.key, true, this.#now())
      if (isNew) await this.#joined(tx, group, to, accountKey, false)
      await acceptMembership(tx, group.key, to.key)
      await setMemberAdmin(tx, group.key, to.key, true)
      await setMemberAdmin(tx, group.key, group.ownerKey, false)
      await this.#audit.record(tx, by, groupAction('group-changed', group, { owner: to.email }))
    })
    return { ...group, ownerKey: to.key }
  }

  /** For the owner. Libraries shared with the group stay with their owners. */
  async delete({ group }: Membership, by: AuditActor | undefined): Promise<void> {
    await this.#db.write(async (tx) => {
      await this.#record(tx, await leaving(tx, group))
      await deleteGroupIn(tx, group.key, this.#dependents)
      await this.#audit.record(tx, by, groupAction('group-deleted', group))
    })
  }

  /**
   * False if the account is already a member. For administrators of the group. Throws limit-reached, except for administrators of the
   * server.
   */
  add(membership: Membership, account: Account, by: AuditActor | undefined): Promise<boolean> {
    const { group, accountKey } = membership
    return this.#db.write(async (tx) => {
      if ((await findMembership(tx, group.key, account.key)) !== undefined) return false
      await refuseAtLimit('members', (most) => countMembers(tx, group.key, most))
      const isHeld = await this.#isHeld(tx, membership, account)
      const heldBy = isHeld ? accountKey : undefined
      const isNew = await insertMember(tx, group.key, account.key, false, this.#now(), heldBy)
      if (!isNew) return false
      const limit = MAX_GROUPS_WITH_MEMBER
      if (
        membership.actsAsOwner !== true &&
        (await countMemberships(tx, account.key, group.ownerKey)) > limit
      ) {
        fail({ code: 'limit-reached', what: 'groups-with-member', limit })
      }
      await this.#joined(tx, group, account, accountKey, isHeld)
      await this.#changed(tx, by, group, { added: account.email })
      return true
    })
  }

  /** The groups that wait for an account to accept its membership, with the keys of the accounts that added it. */
  held(account: Account): Promise<{ group: Group; heldBy: number }[]> {
    return listHeldMemberships(this.#db, account.key)
  }

  /** Accepts a held membership. False if there is none. */
  accept(group: Group, account: Account, by: AuditActor | undefined): Promise<boolean> {
    return this.#db.write(async (tx) => {
      if (!(await acceptMembership(tx, group.key, account.key))) return false
      const accountKeys = [account.key]
      await this.#record(tx, { kind: 'joined', group, accountKeys, by: undefined, isHeld: false })
      await this.#changed(tx, by, group, { accepted: account.email })
      return true
    })
  }

  /** Ends a held membership. False if there is none. */
  decline(group: Group, account: Account, by: AuditActor | undefined): Promise<boolean> {
    return this.#db.write(async (tx) => {
      const isGone = await deleteHeldMembership(tx, group.key, account.key)
      if (isGone) await this.#changed(tx, by, group, { declined: account.email })
      return isGone
    })
  }

  /** For the owner. Applies to other members. Audited if the role of the member differs. */
  async setAdmin(
    { group }: Membership,
    account: Account,
    isAdmin: boolean,
    by: AuditActor | undefined,
  ): Promise<void> {
    await this.#db.write(async (tx) => {
      const before = await findMembership(tx, group.key, account.key)
      await setMemberAdmin(tx, group.key, account.key, isAdmin)
      if (before?.isAdmin !== isAdmin) await this.#changed(tx, by, group, { member: account.email, isAdmin })
    })
  }

  /**
   * Ends a membership, and the member's shares with the group. Members except the owner may leave. The owner
   * may remove anybody, administrators plain members. Throws permission-denied. False if the account was no
   * member.
   */
  async remove(membership: Membership, account: Account, by: AuditActor | undefined): Promise<boolean> {
    const { group } = membership
    return this.#db.write(async (tx) => {
      const member = await findMembership(tx, group.key, account.key)
      if (member === undefined) {
        const isWithdrawn = membership.isAdmin && (await deleteHeldMembership(tx, group.key, account.key))
        if (isWithdrawn) await this.#changed(tx, by, group, { removed: account.email })
        return isWithdrawn
      }
      const isSelf = membership.accountKey === account.key
      const isOwner = group.ownerKey === membership.accountKey || membership.actsAsOwner === true
      const mayRemove = isSelf || isOwner || (membership.isAdmin && !member.isAdmin)
      if (!mayRemove || account.key === group.ownerKey) fail({ code: 'permission-denied' })
      // All members are affected, because this one's shares with them end too.
      await this.#record(tx, await leaving(tx, group))
      for (const dependent of this.#dependents) await dependent.onMemberRemoved(tx, group.key, account.key)
      const isGone = await deleteMember(tx, group.key, account.key)
      if (isGone) await this.#changed(tx, by, group, { removed: account.email })
      return isGone
    })
  }

  #changed(
    tx: Transaction,
    by: AuditActor | undefined,
    group: Group,
    detail: Record<string, unknown>,
  ): Promise<void> {
    return this.#audit.record(tx, by, groupAction('group-members-changed', group, detail))
  }

  /** Administrators of the server are trusted. */
  async #isHeld(tx: Transaction, by: Membership, account: Account): Promise<boolean> {
    if (!this.#holdsNewGivers || by.actsAsOwner === true) return false
    return !(await haveCommonGroup(tx, by.accountKey, account.key))
  }

  async #joined(
    tx: Transaction,
    group: Group,
    account: Account,
    byKey: number,
    isHeld: boolean,
  ): Promise<void> {
    const by = (await findAccountByKey(tx, byKey))?.email
    await this.#record(tx, { kind: 'joined', group, accountKeys: [account.key], by, isHeld })
  }
}

async function leaving(tx: Transaction, group: Group): Promise<GroupEvent> {
  const accountKeys = await memberKeys(tx, group.key)
  return { kind: 'left', group, accountKeys, by: undefined, isHeld: false }
}

/**
 * Removes an account from all groups, in the transaction that removes the account. Groups it owns pass to the
 * next member.
 */
export async function leaveGroups(
  tx: Transaction,
  accountKey: number,
  dependents: readonly GroupDependent[],
): Promise<void> {
  for (const { groupKey, successorKey } of await successorsOf(tx, accountKey)) {
    if (successorKey === undefined) {
      await deleteGroupIn(tx, groupKey, dependents)
      continue
    }
    await setGroupOwner(tx, groupKey, accountKey, successorKey)
    await setMemberAdmin(tx, groupKey, successorKey, true)
  }
  await deleteMemberships(tx, accountKey)
}

async function deleteGroupIn(
  tx: Transaction,
  key: number,
  dependents: readonly GroupDependent[],
): Promise<void> {
  for (const dependent of dependents) await dependent.onGroupDeleted(tx, key)
  await deleteGroup(tx, key)
}

/** A change of a group's members, and therefore of their access. */
export interface GroupEvent {
  readonly kind: 'joined' | 'left'
  readonly group: Group
  /** The accounts that joined or left, and those whose access changed with them. */
  readonly accountKeys: readonly number[]
  /** The account id of the member who added them; undefined if there is none. */
  readonly by: string | undefined
  /** Whether the membership waits for the account to accept it. */
  readonly isHeld: boolean
}

/** Records a group event in the transaction of the change. */
type GroupRecorder = (tx: Transaction, event: GroupEvent) => Promise<void>

/** An action on a group. */
function groupAction(action: AuditAction, group: Group, detail: Record<string, unknown> = {}): AuditedAction {
  return { action, objectKind: 'group', objectId: String(group.key), detail: { name: group.name, ...detail } }
}
