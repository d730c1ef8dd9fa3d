import type { LibraryId } from '../../base/objects/index.ts'
import { isWithin, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import type { Permission } from '../../libraries/library/index.ts'
import { asSeen, baseOf, inOrigin, type LibraryInfo, originOf } from '../../libraries/registry/index.ts'
import { findSubLibraryAt } from '../../libraries/views/index.ts'
import { type Account, type Group, groupRows } from '../../people/accounts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { seesPublic } from './access.ts'
import { capped, type Decision, decide, type Grant } from './grant.ts'
import { grantsOf } from './share-store.ts'

/** A grant of an account in a library, and whether it applies to the path in question. */
interface ExplainedGrant extends Grant {
  readonly group: Group | undefined
  readonly reaches: boolean
  readonly decides: boolean
}

/** Explains the permission of an account at a path. */
export interface Explanation {
  readonly email: string
  readonly libraryId: LibraryId
  readonly libraryName: string
  readonly path: LibraryPath
  /** Undefined for none. */
  readonly permission: Permission | undefined
  readonly isAdmin: boolean
  readonly isOwner: boolean
  /** The id by which the account reaches the path: the library, or a sub-library. */
  readonly openAs: LibraryId | undefined
  readonly status: LibraryInfo['status']
  readonly active: boolean
  readonly grants: readonly ExplainedGrant[]
  /** One sentence in English. */
  readonly reason: string
}

/**
 * Lists the grants of an account at a time, and which of them decides its permission at a path. For a sub-library, nothing outside of its
 * folder is named: grants elsewhere are left out, and those above it are shown as grants of the folder.
 */
export async function explain(
  db: Database,
  library: LibraryInfo,
  account: Account,
  path: LibraryPath,
  now: number,
): Promise<Explanation> {
  const origin = originOf(library)
  const place = inOrigin(library, path)
  const asking = { key: account.key, seesPublic: seesPublic(account) }
  const grants = (await grantsOf(db, asking, [origin.key], now)).get(origin.key) ?? []
  const groups = await groupsIn(db, grants)
  const isOwner = origin.ownerKey === account.key
  const decision = isOwner ? undefined : decide(grants, place)
  const permission = isOwner ? 'rw' : decision?.permission
  return {
    email: account.email,
    libraryId: library.id,
    libraryName: library.name,
    path,
    permission: permission && account.active ? capped(permission, origin) : undefined,
    isAdmin: account.active && (isOwner || decision?.isAdmin === true),
    isOwner,
    openAs: await wayIn(db, library, isOwner, decision),
    status: origin.status,
    active: account.active,
    grants: grants.flatMap((grant) => {
      const shown = shownPath(library, grant.path)
      if (shown === undefined) return []
      const group = grant.grantee === 'group' ? groups.get(grant.granteeKey) : undefined
      const reaches = isWithin(place, grant.path)
      return { ...grant, path: shown, group, reaches, decides: grant === decision?.by }
    }),
    reason: reasonFor(account, library, isOwner, decision, groups),
  }
}

/** The path of a grant as the library shows it. That of a folder above is the root. */
function shownPath(library: LibraryInfo, path: LibraryPath): LibraryPath | undefined {
  return asSeen(library, path) ?? (isWithin(baseOf(library), path) ? ROOT : undefined)
}

async function groupsIn(db: Database, grants: readonly Grant[]): Promise<Map<number, Group>> {
  const keys = grants.filter(({ grantee }) => grantee === 'group').map(({ granteeKey }) => granteeKey)
  const found = await groupRows.findMany(db, [...new Set(keys)])
  return new Map(found.map((group) => [group.key, group]))
}

async function wayIn(
  db: Database,
  library: LibraryInfo,
  isOwner: boolean,
  decision: Decision | undefined,
): Promise<LibraryId | undefined> {
  if (isOwner || (decision && shownPath(library, decision.by.path) === ROOT)) return library.id
  return decision && (await findSubLibraryAt(db, library.key, decision.by.path))?.id
}

function reasonFor(
  { email, active }: Account,
  library: LibraryInfo,
  isOwner: boolean,
  decision: Decision | undefined,
  groups: ReadonlyMap<number, Group>,
): string {
  if (!active) return `${email} is deactivated and can do nothing.`
  const cap = library.status === 'read-only' ? ' The library is read-only, which leaves reading.' : ''
  if (isOwner) return `${email} owns the library.${cap}`
  if (decision === undefined) return `Nothing here is shared with ${email}.`
  const { by } = decision
  const folder = asSeen(library, by.path) ?? ROOT
  const isWhole = folder === ROOT
  const what =
    isWhole && library.sub === undefined ? 'The library' : `The folder ${isWhole ? library.name : folder}`
  const right = decision.isAdmin ? 'admin' : by.permission
  return `${what} is shared with ${nameOf(by, email, groups)} (${right}).${cap}`
}

function nameOf({ grantee, granteeKey }: Grant, email: string, groups: ReadonlyMap<number, Group>): string {
  if (grantee === 'user') return email
  if (grantee === 'everyone') return 'everyone'
  return `the group ${groups.get(granteeKey)?.name ?? granteeKey}, which ${email} is in`
}
