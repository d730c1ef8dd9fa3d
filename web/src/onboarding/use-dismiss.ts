import { useQueryClient } from '@tanstack/react-query'
import { dismissOnboarding, type OnboardingItem } from '../api/index.ts'
import { useFailureToast } from '../ui/index.ts'

/** Dismisses an item for the account, or with `false` shows it again. */
export function useDismiss() {
  const queries = useQueryClient()
  const failed = useFailureToast()
  return (item: OnboardingItem, dismissed = true): void => {
    dismissOnboarding(item, dismissed).then(
      (state) => queries.setQueryData(['account', 'onboarding'], state),
      failed,
    )
  }
}
