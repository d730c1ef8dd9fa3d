import { parseOutsideJson } from '../../../base/json.ts'
import { accepting, list, optional, optionalText, type Reader, text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { type Link, type LinkOptions, linkScopes, readingRights } from '../../../sharing/access/index.ts'
import { parseTime } from '../common/parse-values.ts'
import type { LinkServices } from './services.ts'

const MAX_DAYS = 1_000_000
const DAY_SECONDS = 86_400

const INVALID_TIME = 'expiration_time invalid, should be iso format, for example: 2020-05-17T10:26:22+08:00'

/** Expiry fields of a link. */
export const expiry = { expire_days: text(), expiration_time: optionalText(INVALID_TIME) }

/** The rights of a share link: an object, or its JSON as text. Missing rights get their defaults. */
const rights: Reader<Link['rights'] | undefined> = accepting(
  {
    type: 'object',
    description: 'An object of the flags `can_edit`, `can_download` and `can_upload`, or its JSON text.',
  },
  (fields, name) => {
    const sent = fields.raw(name)
    if (sent === undefined || sent === null || sent === '') return undefined
    const object = typeof sent === 'string' ? parseJson(sent) : sent
    if (typeof object !== 'object' || object === null || Array.isArray(object)) return invalid(name)
    const { can_edit, can_download, can_upload } = object as Record<string, unknown>
    const read = (value: unknown, usual: boolean) => {
      if (value === undefined || value === null) return usual
      return typeof value === 'boolean' ? value : invalid(name)
    }
    return {
      canEdit: read(can_edit, readingRights.canEdit),
      canDownload: read(can_download, readingRights.canDownload),
      canUpload: read(can_upload, readingRights.canUpload),
    }
  },
)

const scope: Reader<Link['scope'] | undefined> = accepting(
  { type: 'string', enum: linkScopes, lenient: true },
  (fields, name) => {
    const sent = fields.text(name)
    return linkScopes.find((known) => known === sent)
  },
)

/** Lower-cased addresses, as a list or separated by commas. */
const emails: Reader<string[] | undefined> = accepting({ type: 'array' }, (fields, name) => {
  const sent = optional(list())(fields, name)
  return sent?.flatMap((entry) => entry.split(',').map((email) => email.trim().toLowerCase())).filter(Boolean)
})

export const password = optionalText(
  'Password can only contain number, upper letter, lower letter and other symbols.',
)

/** Fields of both share links and upload links. */
export const linkFields = { password, ...expiry, description: text() }

/** Fields of share links only. */
export const shareFields = { permissions: rights, user_scope: scope, emails }

interface SentExpiry {
  readonly expire_days: string
  readonly expiration_time: string | undefined
}

/** Unix seconds; null if the expiry is removed, undefined if absent. Rejects anything else. */
export function readExpiry({ expire_days: days, expiration_time: time }: SentExpiry, now: number) {
  if (days !== '' && time) {
    throw errorMessage(400, 'Can not pass expire_days and expiration_time at the same time.')
  }
  if (days !== '') {
    const count = /^\d{1,7}$/.test(days) ? Number(days) : 0
    if (count < 1 || count > MAX_DAYS) throw errorMessage(400, 'expire_days invalid.')
    return now + count * DAY_SECONDS
  }
  if (time === undefined) return undefined
  if (time === '') return null
  return parseTime(time) ?? refuseTime()
}

/** Rejects a password that is too short or has control characters. */
function checkedPassword({ links }: LinkServices, sent: string | undefined): string | undefined {
  if (!sent) return undefined
  if (Array.from(sent).length < links.shortestPassword) throw errorMessage(400, 'Password is too short.')
  if (/[\p{Cc}\p{Cs}]/u.test(sent)) {
    throw errorMessage(400, 'Password can only contain number, upper letter, lower letter and other symbols.')
  }
  return sent
}

/** The new password of a link; null if it is removed, undefined if absent. */
export function readNewPassword(services: LinkServices, sent: string | undefined): string | null | undefined {
  return sent === '' ? null : checkedPassword(services, sent)
}

/** The options that share links and upload links have in common. */
export function readLinkOptions(
  services: LinkServices,
  sent: SentExpiry & { readonly password: string | undefined; readonly description: string },
): Pick<LinkOptions, 'password' | 'expiresAt' | 'description'> {
  return {
    password: checkedPassword(services, sent.password),
    expiresAt: readExpiry(sent, services.now()) ?? undefined,
    description: sent.description,
  }
}

/** Parsed JSON; undefined if malformed. */
function parseJson(sent: string): unknown {
  try {
    return parseOutsideJson(sent)
  } catch {
    return undefined
  }
}

function invalid(name: string): never {
  throw errorMessage(400, `${name} invalid.`)
}

function refuseTime(): never {
  throw errorMessage(400, INVALID_TIME)
}
