import {
  type Account,
  contactEmailOf,
  displayName,
  isAdmin,
  isContactVerified,
} from '../../../people/accounts/index.ts'
import { isDesktop, type LinkedDevice } from '../../../people/credentials/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import type { AccountInfo, Person, Profile } from './accounts.schema.ts'
import type { AccountServices } from './services.ts'

/** The value of `total` and `quota_total` without a limit. Clients treat any negative number as unlimited. */
export const UNLIMITED = -2

const DEFAULT_AVATAR_SIZE = 72

/** Seconds between mails. Without an interval of their own, notifications are collected for a minute. */
const intervals: Readonly<Record<Account['mailNotices'], number>> = { off: 0, 'at-once': 60, daily: 86_400 }

/** The URL of an avatar, with the size in pixels that was asked for; of the default avatar if there is none or no account. */
export function avatarUrl(
  baseUrl: string,
  holder?: { readonly avatar?: string | undefined },
  size = DEFAULT_AVATAR_SIZE,
): string {
  if (!holder?.avatar) return `${baseUrl}/media/avatars/default.png`
  return `${baseUrl}/media/avatars/${holder.avatar}/${size}.png`
}

/** An account as its holder sees it in `/api2/account/info/`. */
export async function accountInfoToWire(
  account: Account,
  { quotas }: AccountServices,
  baseUrl: string,
): Promise<AccountInfo> {
  const usage = await quotas.usageOf(account)
  const limit = quotas.limitOf(account)
  return {
    email: account.email,
    name: displayName(account),
    contact_email: contactEmailOf(account),
    contact_email_verified: isContactVerified(account),
    login_id: account.loginId,
    department: account.department,
    institution: account.institution,
    usage,
    total: limit ?? UNLIMITED,
    space_usage: percentage(usage, limit),
    avatar_url: avatarUrl(baseUrl, account),
    is_staff: isAdmin(account),
    enable_subscription: false,
    file_updates_email_interval: account.updateMailSeconds,
    collaborate_email_interval: account.mailIntervalSeconds ?? intervals[account.mailNotices],
  }
}

/** An account as its holder sees it in `/api/v2.1/user/`. */
export function userToWire(account: Account): Profile {
  return {
    email: account.email,
    name: account.name,
    contact_email: contactEmailOf(account),
    contact_email_verified: isContactVerified(account),
    telephone: '',
    login_id: account.loginId,
    list_in_address_book: account.listInAddressBook,
    language: account.language ?? '',
    mail_notices: account.mailNotices,
  }
}

/** Without the API token, which the API reference shows as `key`: it stays secret. */
export function deviceToWire(account: Pick<Account, 'email'>, device: LinkedDevice) {
  return {
    user: account.email,
    platform: device.platform,
    device_id: device.deviceId,
    device_name: device.deviceName,
    client_version: device.clientVersion,
    platform_version: device.platformVersion,
    last_accessed: isoTime(device.lastUsedAt),
    last_login_ip: device.loginAddress,
    wiped_at: device.wipedAt === null ? null : isoTime(device.wipedAt),
    is_desktop_client: isDesktop(device.platform),
  }
}

/** `0.008326%`, never in exponential notation. */
function percentage(usage: number, limit: number | undefined): string {
  if (limit === undefined) return '0%'
  return `${Number(((usage / limit) * 100).toFixed(6))}%`
}

/** A user as others may see them. */
export function userItem(account: Account, baseUrl: string, avatarSize?: number): Person {
  return {
    email: account.email,
    name: displayName(account),
    contact_email: contactEmailOf(account),
    avatar_url: avatarUrl(baseUrl, account, avatarSize),
  }
}
