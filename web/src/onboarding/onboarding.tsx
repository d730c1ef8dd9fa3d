import { useAccount, useOnboarding } from '../api/index.ts'
import { SetupChecklist } from './setup-checklist.tsx'
import { useDismiss } from './use-dismiss.ts'
import { WelcomeCard } from './welcome-card.tsx'

/**
 * First steps: the setup checklist for an administrator, then the welcome card for everybody, until dismissed.
 * One at a time, so that the first page of a new server does not show two lists.
 */
export default function Onboarding(props: { onUpload: () => void }) {
  const { data: account } = useAccount()
  const { data: state } = useOnboarding()
  const dismiss = useDismiss()
  if (account === undefined || state === undefined) return null
  if (account.is_staff && !state.dismissed.includes('setup')) {
    return <SetupChecklist onClose={() => dismiss('setup')} />
  }
  if (state.dismissed.includes('welcome')) return null
  return (
    <WelcomeCard
      email={account.email}
      hasFiles={account.usage > 0}
      passwordAssigned={state.password_assigned}
      onUpload={props.onUpload}
      onClose={() => dismiss('welcome')}
    />
  )
}
