import type { LinkRights } from '../api/index.ts'
import { isListTooLong, newRequest, type RequestDraft } from './request-draft.ts'

export type RightsName = 'download' | 'view' | 'upload'
export type Until = 'never' | '1' | '7' | '30' | 'date'

/** The values of the form for a link. */
export interface LinkDraft {
  readonly rights: RightsName
  readonly secured: boolean
  readonly password: string
  readonly until: Until
  /** Format of `<input type="date">`. */
  readonly date: string
  readonly description: string
  /** Whether an upload link asks its visitors for something. */
  readonly asks: boolean
  readonly request: RequestDraft
}

export const newDraft: LinkDraft = {
  rights: 'download',
  secured: false,
  password: '',
  until: 'never',
  date: '',
  description: '',
  asks: false,
  request: newRequest,
}

export const rightsNamed: Record<RightsName, LinkRights> = {
  download: { can_edit: false, can_download: true, can_upload: false },
  view: { can_edit: false, can_download: false, can_upload: false },
  upload: { can_edit: false, can_download: true, can_upload: true },
}

export function nameOfRights(rights: LinkRights | undefined): RightsName {
  if (rights?.can_upload) return 'upload'
  return rights?.can_download === false ? 'view' : 'download'
}

const DAY_MS = 86_400_000
// No characters that look alike, because the password may be typed from paper.
const SIGNS = 'abcdefghjkmnpqrstuvwxyz23456789'
const PASSWORD_LENGTH = 14

export function makePassword(): string {
  const random = crypto.getRandomValues(new Uint32Array(PASSWORD_LENGTH))
  return Array.from(random, (number) => SIGNS[number % SIGNS.length]).join('')
}

/** Expiry time as ISO; empty for never. A date expires at the end of the day. */
export function expiryOf({ until, date }: Pick<LinkDraft, 'until' | 'date'>): string {
  if (until === 'never') return ''
  if (until === 'date') return new Date(`${date}T23:59:59`).toISOString()
  return new Date(Date.now() + Number(until) * DAY_MS).toISOString()
}

export const isComplete = ({ secured, password, until, date, asks, request }: LinkDraft) =>
  !(secured && password === '') && !(until === 'date' && date === '') && !(asks && isListTooLong(request))

/** The local date in the format of `<input type="date">`. */
export function dayOf(moment: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`
}
