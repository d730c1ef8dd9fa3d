import { baseName } from '../../../base/paths/index.ts'
import type { FeedItem, Notification } from '../../../derived/activity/index.ts'
import { type Directory, type Person, unknownPerson } from '../../../people/accounts/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { isoTime } from '../common/wire-formats.ts'
import type { Activity } from './activity.schema.ts'

/** Activities as `/api/v2.1/activities/` lists them. */
export async function activitiesToWire(
  items: readonly FeedItem[],
  directory: Directory,
  baseUrl: string,
  avatarSize?: number,
) {
  const people = await directory.people(items.map(({ author }) => author))
  return items.map((item) =>
    activityToWire(item, people.get(item.author) ?? unknownPerson(item.author), baseUrl, avatarSize),
  )
}

function activityToWire(
  item: FeedItem,
  author: Person,
  baseUrl: string,
  avatarSize: number | undefined,
): Activity {
  const { oldPath } = item
  return {
    op_type: item.op,
    obj_type: item.object,
    repo_id: item.libraryId,
    repo_name: item.libraryName,
    commit_id: item.commitId ?? '',
    path: item.path,
    name: baseName(item.path),
    ...(oldPath !== undefined && { old_path: oldPath, old_name: baseName(oldPath) }),
    ...(item.oldName !== undefined && { old_repo_name: item.oldName }),
    ...(item.days !== undefined && { days: item.days }),
    ...(item.unlisted !== undefined && { unlisted: item.unlisted }),
    author_email: author.email,
    author_name: author.name,
    author_contact_email: author.contactEmail,
    ...(item.viaLink && { via_link: true as const }),
    login_id: '',
    avatar_url: avatarUrl(baseUrl, author, avatarSize),
    time: isoTime(item.at),
    // Other servers group rows and list them here. Carrel does not group rows.
    details: [],
    count: 0,
  }
}

const ACCOUNT_KEY = /^(.*)_email$/

/** Notifications with the current names of the people in them. */
export async function notificationsToWire(
  notifications: readonly Notification[],
  directory: Directory,
  baseUrl: string,
) {
  const people = await directory.people(notifications.flatMap(emailsIn))
  return notifications.map((one) => ({
    id: one.id,
    type: one.type,
    detail: detailToWire(one.detail, people, baseUrl),
    time: isoTime(one.createdAt),
    seen: one.seen,
  }))
}

function emailsIn({ detail }: Notification): string[] {
  return Object.entries(detail).flatMap(([key, value]) =>
    ACCOUNT_KEY.test(key) && typeof value === 'string' ? value : [],
  )
}

function detailToWire(detail: Notification['detail'], people: ReadonlyMap<string, Person>, baseUrl: string) {
  const shown: Record<string, unknown> = { ...detail }
  for (const [key, value] of Object.entries(detail)) {
    const [, role] = ACCOUNT_KEY.exec(key) ?? []
    if (role === undefined || typeof value !== 'string') continue
    const person = people.get(value) ?? unknownPerson(value)
    shown[`${role}_name`] = person.name
    shown[`${role}_contact_email`] = person.contactEmail
    shown[`${role}_avatar_url`] = avatarUrl(baseUrl, person)
  }
  return shown
}
