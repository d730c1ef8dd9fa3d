import type { Database } from '../../platform/database/index.ts'
import type { Account } from './account.ts'
import { lockAccount } from './account-store.ts'
import { findOnboarding, setDismissed } from './onboarding-store.ts'

/**
 * What a user can dismiss: the welcome card of new users, the setup checklist of administrators, and single
 * steps of that checklist.
 */
const onboardingItems = [
  'welcome',
  'setup',
  'setup-address',
  'setup-backup',
  'setup-mail',
  'setup-users',
  'setup-password',
] as const
type OnboardingItem = (typeof onboardingItems)[number]

interface OnboardingState {
  readonly dismissed: readonly OnboardingItem[]
  /** Whether the password was assigned by an administrator or generated at the first start. */
  readonly passwordAssigned: boolean
}

/** The introduction of an account to the server. Stored with the account, so that it ends on all devices. */
export class Onboarding {
  /** What can be dismissed. */
  static readonly items = onboardingItems
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async state({ key }: Pick<Account, 'key'>): Promise<OnboardingState> {
    const row = await findOnboarding(this.#db, key)
    return {
      dismissed: parseItems(row?.onboarding_dismissed ?? ''),
      passwordAssigned: row?.password_assigned === 1,
    }
  }

  /** May be repeated. */
  async setDismissed({ key }: Pick<Account, 'key'>, item: OnboardingItem, dismissed: boolean): Promise<void> {
    await this.#db.write(async (tx) => {
      // Two devices may dismiss different items concurrently.
      await lockAccount(tx, this.#db.dialect, key)
      const row = await findOnboarding(tx, key)
      const others = parseItems(row?.onboarding_dismissed ?? '').filter((one) => one !== item)
      await setDismissed(tx, key, (dismissed ? [...others, item] : others).join(','))
    })
  }
}

/** Unknown items, of a newer version, are ignored. */
function parseItems(stored: string): OnboardingItem[] {
  const names = new Set(stored.split(','))
  return onboardingItems.filter((item) => names.has(item))
}
