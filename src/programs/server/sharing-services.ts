import { storesOf } from '../../libraries/library/for-server.ts'
import { Groups } from '../../people/accounts/index.ts'
import {
  Access,
  LibraryNames,
  LibraryPasswords,
  LinkMails,
  Links,
  Shares,
  Tickets,
} from '../../sharing/access/index.ts'
import { Quotas } from '../../sharing/quotas/index.ts'
import { looksLikeSnapshot } from '../../surfaces/webdav/index.ts'
import { createActivity, groupDependents, quotaLimits } from '../assembly/index.ts'
import type { PeopleServices } from './people-services.ts'
import type { ServiceParts } from './service-parts.ts'

/** Who may do what, and who is told of it. */
export type SharingServices = ReturnType<typeof createSharing>

export function createSharing(parts: ServiceParts, people: PeopleServices) {
  const { core, db, now, config } = parts
  const { accounts, outbox, guarding } = people
  const access = new Access({ core, db })
  const quotas = createQuotas(parts, people)
  allowLocksOf(parts, people, access)
  const logger = parts.logger.child({ module: 'activity' })
  const activity = createActivity({ ...parts, access, accounts, outbox, logger })
  const holdsNewGivers = config.shareAcceptance === 'new-givers'
  const links = createLinks(parts, people, access)
  return {
    access,
    activity,
    quotas,
    links,
    groups: new Groups({
      db,
      audit: core.audit,
      now,
      holdsNewGivers,
      dependents: groupDependents,
      record: (tx, event) => activity.sharing.ofGroup(tx, event),
    }),
    libraryNames: new LibraryNames({ access, db, now, isReserved: looksLikeSnapshot }),
    libraryPasswords: new LibraryPasswords({ core, ...guarding }),
    linkMails: new LinkMails({ db, links, accounts, outbox, perDay: config.mailPerDay }),
    shares: new Shares(
      {
        core,
        db,
        holdsNewGivers,
        onAccessChanged: (tx, accountKeys) => activity.sharing.accessChanged(tx, accountKeys),
      },
      (tx, event) => activity.sharing.ofShare(tx, event),
    ),
    tickets: new Tickets(db, access, people.origins, now, config.ticketSeconds, core.keys),
  }
}

function createQuotas(
  { core, db, now, config, reserve }: ServiceParts,
  { accounts }: PeopleServices,
): Quotas {
  const diskFault = () => reserve?.fault
  const quotas = new Quotas({ db, accounts, now, limits: quotaLimits(config), diskFault })
  core.growth.diskFault = diskFault
  storesOf(core).content.diskFault = diskFault
  core.growth.guard = quotas.growthGuard
  return quotas
}

/** Locks end with the rights of who took them. */
function allowLocksOf({ core }: ServiceParts, { origins }: PeopleServices, access: Access): void {
  core.lockRights.rightOf = async (libraryKey, { accountKey, scopedTokenKey }) => {
    const origin = { accountKey, scopedTokenKey, epoch: undefined, apiTokenKey: undefined }
    const holder = await origins.findActor(origin)
    return holder?.key === accountKey ? access.writableBy(holder, libraryKey) : () => false
  }
}

function createLinks(
  { core, db, secret, config }: ServiceParts,
  people: PeopleServices,
  access: Access,
): Links {
  const { apiTokens, guarding, origins } = people
  return new Links({
    core,
    db,
    access,
    origins,
    secret,
    ...guarding,
    identify: async (token) => {
      const found = await apiTokens.authenticate(token)
      return 'ok' in found ? found.ok : undefined
    },
    shortestPassword: config.linkPasswordLength,
  })
}
