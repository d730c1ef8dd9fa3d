import { useState } from 'react'
import { useLocation } from 'wouter'
import { CarrelError } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, CheckField, TextField, useErrorMessage } from '../ui/index.ts'
import { AppSetup } from './app-setup.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import type { GrantedSession } from './session.tsx'
import { SignInCard } from './sign-in-card.tsx'
import type { SignInStep } from './sign-in-steps.ts'

interface StepProps {
  readonly onAttempt: (second: { code: string; trusts: boolean; setup?: string }) => Promise<void>
  readonly onBack: () => void
}

/** What a sign-in asks for or shows after name and password. */
export default function SecondStep(props: StepProps & { step: SignInStep }) {
  const { step } = props
  if (step.kind === 'granted') return <Granted granted={step.granted} />
  return step.kind === 'setup' ? <Setup {...props} offer={step.offer} /> : <Code {...props} />
}

function Code(props: StepProps) {
  const texts = useTexts('session')
  const [isRecovery, setIsRecovery] = useState(false)
  const [code, setCode] = useState('')
  const [trusts, setTrusts] = useState(false)
  const { busy, failure, submit } = useSubmit(() => props.onAttempt({ code, trusts }))
  return (
    <SignInCard title={texts.codeTitle} onSubmit={submit}>
      <TextField
        // Another kind of code begins with an empty field and another keyboard.
        key={String(isRecovery)}
        label={isRecovery ? texts.recoveryCode : texts.code}
        hint={isRecovery ? texts.recoveryHint : texts.codeHint}
        error={failure}
        inputMode={isRecovery ? 'text' : 'numeric'}
        autoComplete={isRecovery ? 'off' : 'one-time-code'}
        autoCapitalize="none"
        spellCheck={false}
        maxLength={40}
        autoFocus
        required
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
      <CheckField
        label={texts.trustDevice}
        checked={trusts}
        onChange={(event) => setTrusts(event.target.checked)}
      />
      <Button type="submit" variant="primary" busy={busy}>
        {texts.signIn}
      </Button>
      <Button
        variant="quiet"
        onClick={() => {
          setCode('')
          setIsRecovery(!isRecovery)
        }}
      >
        {isRecovery ? texts.useApp : texts.useRecovery}
      </Button>
      <Button variant="quiet" onClick={props.onBack}>
        {texts.backToSignIn}
      </Button>
    </SignInCard>
  )
}

function Setup(props: StepProps & { offer: Extract<SignInStep, { kind: 'setup' }>['offer'] }) {
  const texts = useTexts('session')
  const { offer } = props
  const [code, setCode] = useState('')
  const attempt = () => props.onAttempt({ code, trusts: false, setup: offer.setup })
  const { busy, failure, submit } = useSubmit(attempt)
  return (
    <SignInCard title={texts.setupTitle} onSubmit={submit}>
      <p className="muted">{texts.setupNeeded}</p>
      <AppSetup offer={offer} code={code} onCode={setCode} />
      {failure && (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
      <Button type="submit" variant="primary" busy={busy}>
        {texts.turnOn}
      </Button>
      <Button variant="quiet" onClick={props.onBack}>
        {texts.backToSignIn}
      </Button>
    </SignInCard>
  )
}

function Granted(props: { granted: GrantedSession }) {
  const texts = useTexts('session')
  const formats = useFormats()
  const [, navigate] = useLocation()
  const { recoveryCodes, dueAt, begin } = props.granted
  if (recoveryCodes.length > 0 || dueAt === undefined) {
    return (
      <SignInCard title={texts.recoveryTitle} onSubmit={begin}>
        <RecoveryCodes codes={recoveryCodes} />
        <Button type="submit" variant="primary">
          {texts.recoveryStored}
        </Button>
      </SignInCard>
    )
  }
  const setUp = () => {
    navigate('/account/security')
    begin()
  }
  return (
    <SignInCard title={texts.dueTitle} onSubmit={setUp}>
      <p>{texts.dueText(formats.date(dueAt))}</p>
      <Button type="submit" variant="primary">
        {texts.setUpNow}
      </Button>
      <Button variant="quiet" onClick={begin}>
        {texts.later}
      </Button>
    </SignInCard>
  )
}

/** Tries to sign in, and says why it was refused. */
function useSubmit(attempt: () => Promise<void>) {
  const texts = useTexts('session')
  const wording = useErrorMessage()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const reasonOf = (error: unknown) => {
    if (error instanceof CarrelError && error.status === 429) return texts.tooOften
    return error instanceof CarrelError && error.status === 400 ? texts.wrongCode : wording(error)
  }
  const run = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await attempt()
    } catch (error) {
      setFailure(reasonOf(error))
    }
    setBusy(false)
  }
  return { busy, failure, submit: () => void run() }
}
