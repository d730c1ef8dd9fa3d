import { PasswordSection } from './password-section.tsx'
import { TwoStep } from './two-step.tsx'

/** How the user signs in. */
export function Security() {
  return (
    <div className="account-parts">
      <PasswordSection />
      <TwoStep />
    </div>
  )
}
