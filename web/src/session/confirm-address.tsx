import { useState } from 'react'
import { confirmAddress } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, ButtonLink } from '../ui/index.ts'
import { SignInCard } from './sign-in-card.tsx'

/** Verifies a contact address with the token of a mail. By a button, because mail programs open links by themselves. */
export default function ConfirmAddress() {
  const texts = useTexts('session')
  const [token] = useState(() => location.hash.slice(1))
  const [state, setState] = useState<'open' | 'busy' | 'done' | 'failed'>('open')

  async function confirm(): Promise<void> {
    setState('busy')
    try {
      await confirmAddress(token)
      setState('done')
    } catch {
      setState('failed')
    }
  }

  return (
    <SignInCard title={texts.confirmAddress} onSubmit={() => void confirm()}>
      {state === 'done' && <p role="status">{texts.addressConfirmed}</p>}
      {state === 'failed' && <p role="alert">{texts.linkInvalid}</p>}
      {state === 'done' || state === 'failed' ? (
        <ButtonLink to="/" variant="primary">
          {texts.openApp}
        </ButtonLink>
      ) : (
        <Button type="submit" variant="primary" busy={state === 'busy'}>
          {texts.confirmAddress}
        </Button>
      )}
    </SignInCard>
  )
}
