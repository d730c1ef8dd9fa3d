import type { Reader, Transaction } from '../../platform/database/index.ts'

interface OnboardingRow {
  onboarding_dismissed: string
  password_assigned: number
}

export async function findOnboarding(reader: Reader, accountKey: number): Promise<OnboardingRow | undefined> {
  return reader.get<OnboardingRow>(
    'select onboarding_dismissed, password_assigned from account where key = ?',
    accountKey,
  )
}

export async function setDismissed(tx: Transaction, accountKey: number, dismissed: string): Promise<void> {
  await tx.run('update account set onboarding_dismissed = ? where key = ?', dismissed, accountKey)
}
