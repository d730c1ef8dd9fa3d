import {
  type Account,
  contactEmailOf,
  displayName,
  isAdmin,
  isContactVerified,
} from '../../../people/accounts/index.ts'
import { avatarUrl, UNLIMITED } from '../accounts/account-wire.ts'
import { isoTime } from '../common/wire-formats.ts'
import type { AdminUser, OlderAccount } from './accounts.schema.ts'
import type { AdministrationServices } from './services.ts'

/** An account as administrators see it in `/api2/accounts/`. */
export async function accountToWire(
  account: Account,
  { quotas }: AdministrationServices,
): Promise<OlderAccount> {
  return {
    id: account.key,
    email: account.email,
    name: displayName(account),
    department: account.department,
    institution: account.institution,
    is_staff: isAdmin(account),
    is_active: account.active,
    create_time: account.createdAt * 1_000_000,
    login_id: account.loginId,
    list_in_address_book: account.listInAddressBook,
    total: quotas.limitOf(account) ?? UNLIMITED,
    usage: await quotas.usageOf(account),
  }
}

/** Accounts as administrators see them in `/api/v2.1/admin/users/`. */
export async function adminUsersToWire(
  accounts: readonly Account[],
  { quotas, apiTokens, secondFactors }: AdministrationServices,
  baseUrl: string,
) {
  const [usage, lastUses] = await Promise.all([quotas.usageOfMany(accounts), apiTokens.lastUses(accounts)])
  return accounts.map(
    (account): AdminUser => ({
      email: account.email,
      name: displayName(account),
      contact_email: contactEmailOf(account),
      contact_email_verified: isContactVerified(account),
      login_id: account.loginId,
      is_staff: isAdmin(account),
      is_active: account.active,
      quota_usage: usage.get(account.key) ?? 0,
      quota_total: quotas.limitOf(account) ?? UNLIMITED,
      create_time: isoTime(account.createdAt),
      last_login: optionalTime(account.lastLoginAt),
      last_access_time: optionalTime(lastUses.get(account.key)),
      // On the wire, administrators are marked by `is_staff`, not by a role.
      role: account.role === 'guest' ? 'guest' : 'default',
      avatar_url: avatarUrl(baseUrl, account),
      has_default_device: false,
      is_force_2fa: secondFactors.isRequiredOf(account),
      has_second_factor: account.hasSecondFactor,
      social_auth: [],
    }),
  )
}

export async function adminUserToWire(account: Account, services: AdministrationServices, baseUrl: string) {
  const [user] = await adminUsersToWire([account], services, baseUrl)
  return user
}

function optionalTime(unixSeconds: number | null | undefined): string {
  return unixSeconds ? isoTime(unixSeconds) : ''
}
