import './second-step.css'
import type { TotpOffer } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { CopyButton, QrCode, TextField } from '../ui/index.ts'

/** How an authenticator app is set up: what it scans, and the field for its first code. */
export function AppSetup(props: { offer: TotpOffer; code: string; onCode: (code: string) => void }) {
  const texts = useTexts('session')
  const { secret, uri } = props.offer
  return (
    <>
      <p>{texts.setupScan}</p>
      <QrCode text={uri} label={texts.setupQr} />
      <p className="muted">{texts.setupSecret}</p>
      <div className="app-secret">
        {/* In groups, because it is typed. */}
        <code>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        <CopyButton text={secret} />
      </div>
      <TextField
        label={texts.setupCode}
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={8}
        required
        autoFocus
        value={props.code}
        onChange={(event) => props.onCode(event.target.value)}
      />
    </>
  )
}
