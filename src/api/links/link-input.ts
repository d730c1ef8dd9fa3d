import {
  type LinkRights,
  type LinkScope,
  type LinkWish,
  linkScopes,
  readingRights,
} from '../../access/index.ts'
import { errorMessage, list, optional, optionalText, type Reader, text } from '../../http/index.ts'
import { parseOutsideJson } from '../../json.ts'
import { parseTime } from '../common/parse-time.ts'
import type { ApiServices } from '../services.ts'

const LONGEST_DAYS = 1_000_000
const DAY_SECONDS = 86_400

const NOT_ISO = 'expiration_time invalid, should be iso format, for example: 2020-05-17T10:26:22+08:00'

/** Readers of when a link ends. */
export const expiry = { expire_days: text(), expiration_time: optionalText(NOT_ISO) }

/** What a share link lets people do: an object, or its JSON as text. What is left out is as usual. */
const rights: Reader<LinkRights | undefined> = (fields, name) => {
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
}

const scope: Reader<LinkScope | undefined> = (fields, name) => {
  const sent = fields.text(name)
  return linkScopes.find((known) => known === sent)
}

/** Lower-cased addresses; with commas between them in one text, too. */
const emails: Reader<string[] | undefined> = (fields, name) => {
  const sent = optional(list())(fields, name)
  return sent?.flatMap((entry) => entry.split(',').map((email) => email.trim().toLowerCase())).filter(Boolean)
}

export const password = optionalText(
  'Password can only contain number, upper letter, lower letter and other symbols.',
)

/** Readers of what share links and upload links have in common. */
export const linkFields = { password, ...expiry, description: text() }

/** Readers of what only share links have. */
export const shareFields = { permissions: rights, user_scope: scope, emails }

interface SentExpiry {
  readonly expire_days: string
  readonly expiration_time: string | undefined
}

/** Unix seconds; null for an expiry that is taken away, undefined if nothing was sent. Refuses what is neither. */
export function readExpiry({ expire_days: days, expiration_time: time }: SentExpiry, now: number) {
  if (days !== '' && time) {
    throw errorMessage(400, 'Can not pass expire_days and expiration_time at the same time.')
  }
  if (days !== '') {
    const count = /^\d{1,7}$/.test(days) ? Number(days) : 0
    if (count < 1 || count > LONGEST_DAYS) throw errorMessage(400, 'expire_days invalid.')
    return now + count * DAY_SECONDS
  }
  if (time === undefined) return undefined
  if (time === '') return null
  return parseTime(time) ?? refuseTime()
}

/** Refuses a password that is too short or cannot be typed. */
export function checkedPassword({ links }: ApiServices, sent: string | undefined): string | undefined {
  if (!sent) return undefined
  if (Array.from(sent).length < links.shortestPassword) throw errorMessage(400, 'Password is too short.')
  if (/[\p{Cc}\p{Cs}]/u.test(sent)) {
    throw errorMessage(400, 'Password can only contain number, upper letter, lower letter and other symbols.')
  }
  return sent
}

/** What share and upload links are made with alike. */
export function readWish(
  services: ApiServices,
  sent: SentExpiry & { readonly password: string | undefined; readonly description: string },
): Pick<LinkWish, 'password' | 'expiresAt' | 'description'> {
  return {
    password: checkedPassword(services, sent.password),
    expiresAt: readExpiry(sent, services.now()) ?? undefined,
    description: sent.description,
  }
}

/** A text of JSON; undefined for what is none. */
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
  throw errorMessage(400, NOT_ISO)
}
