import './account.css'
import { useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleX, MonitorSmartphone } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { approveDevice, CarrelError, checkDevice, denyDevice, type PendingDevice } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, ButtonLink, Empty, TextField, useErrorMessage, useTitle } from '../ui/index.ts'
import { ExpirySelect, PermissionSelect } from './token-fields.tsx'
import { useConfirmation } from './use-confirmation.tsx'

type Step =
  | { readonly name: 'code' }
  | { readonly name: 'confirm'; readonly device: PendingDevice }
  | { readonly name: 'allowed' | 'denied'; readonly isSession: boolean }

/** Confirms the sign-in of a program by the code that it shows. The code may be in the fragment of the URL. */
export default function DevicePage() {
  const texts = useTexts('account')
  useTitle(texts.connectTitle)
  const [code, setCode] = useState(() => location.hash.slice(1, 21).replace(/[^\w-]/g, ''))
  const [step, setStep] = useState<Step>({ name: 'code' })
  return (
    <div className="page account">
      <div className="page-head">
        <h1>{texts.connectTitle}</h1>
      </div>
      {step.name === 'code' && (
        <CodeForm code={code} onChange={setCode} onFound={(device) => setStep({ name: 'confirm', device })} />
      )}
      {step.name === 'confirm' && (
        <ConfirmForm
          code={code}
          device={step.device}
          onDone={(name) => setStep({ name, isSession: step.device.permission === 'session' })}
        />
      )}
      {step.name === 'allowed' && (
        <Empty
          icon={CircleCheck}
          title={texts.connectAllowed}
          hint={step.isSession ? texts.connectSessionAllowedHint : texts.connectAllowedHint}
        >
          {step.isSession ? (
            <ButtonLink to="/account/devices">{texts.devices}</ButtonLink>
          ) : (
            <ButtonLink to="/account/tokens">{texts.tokens}</ButtonLink>
          )}
        </Empty>
      )}
      {step.name === 'denied' && (
        <Empty icon={CircleX} title={texts.connectDenied} hint={texts.connectDeniedHint} />
      )}
    </div>
  )
}

function CodeForm(props: {
  code: string
  onChange: (code: string) => void
  onFound: (device: PendingDevice) => void
}) {
  const { code, onFound } = props
  const texts = useTexts('account')
  const { busy, failure, run } = useAttempt()

  const find = () => run(async () => onFound(await checkDevice(code)))

  // A code in the URL is looked up at once. Access is granted by a button only.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the page is opened, not when the code is typed
  useEffect(() => {
    if (code !== '') void find()
  }, [])

  function submit(event: FormEvent): void {
    event.preventDefault()
    void find()
  }

  return (
    <form className="card account-card stack account-code-form" onSubmit={submit}>
      <p className="muted">{texts.connectHint}</p>
      <TextField
        label={texts.connectCode}
        placeholder="XXXX-XXXX"
        autoCapitalize="characters"
        spellCheck={false}
        autoFocus
        required
        maxLength={20}
        value={code}
        error={failure}
        onChange={(event) => props.onChange(event.target.value)}
      />
      <div>
        <Button type="submit" variant="primary" busy={busy} disabled={code.trim() === ''}>
          {texts.connectContinue}
        </Button>
      </div>
    </form>
  )
}

function ConfirmForm(props: {
  code: string
  device: PendingDevice
  onDone: (result: 'allowed' | 'denied') => void
}) {
  const { code, device } = props
  const { client_id: client, device_name: machine } = device
  const texts = useTexts('account')
  const formats = useFormats()
  const queries = useQueryClient()
  const { busy, failure, run } = useAttempt()
  const { field, confirmed } = useConfirmation()
  const [name, setName] = useState((machine === '' ? client : `${client} (${machine})`).slice(0, 64))
  const [permission, setPermission] = useState(device.permission)
  const [days, setDays] = useState('90')
  // An app that opened this page itself signs in to the account. It shows no code, and there is nothing to choose.
  const isSession = permission === 'session'

  const allow = () =>
    run(async () => {
      await confirmed((password) =>
        approveDevice({
          user_code: code,
          name: name.trim(),
          permission,
          expire_days: isSession || days === '' ? undefined : Number(days),
          current_password: password,
        }),
      )
      void queries.invalidateQueries({ queryKey: ['account', 'tokens'] })
      props.onDone('allowed')
    })
  const deny = () =>
    run(async () => {
      await denyDevice(code)
      props.onDone('denied')
    })

  function submit(event: FormEvent): void {
    event.preventDefault()
    void allow()
  }

  return (
    <form className="card account-card stack" onSubmit={submit}>
      <h2 className="account-client">
        <MonitorSmartphone size={22} aria-hidden />
        <bdi>{client}</bdi>
      </h2>
      <p>{isSession ? texts.connectSessionAsks : texts.connectAsks}</p>
      <dl className="account-facts">
        {!isSession && (
          <>
            <dt>{texts.connectCode}</dt>
            <dd className="account-code">{code.toUpperCase()}</dd>
          </>
        )}
        {machine !== '' && (
          <>
            <dt>{texts.device}</dt>
            <dd>
              <bdi>{machine}</bdi>
            </dd>
          </>
        )}
        <dt>{texts.connectAddress}</dt>
        <dd>{device.address}</dd>
        <dt>{texts.connectTime}</dt>
        <dd>{formats.moment(device.created_at)}</dd>
      </dl>
      <p className="account-asked">{isSession ? texts.connectSessionWarning : texts.connectWarning}</p>
      {!isSession && (
        <>
          <TextField
            label={texts.tokenName}
            required
            maxLength={64}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <PermissionSelect value={permission} onChange={setPermission} />
          <ExpirySelect value={days} onChange={setDays} />
        </>
      )}
      {field}
      {failure && (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
      <div className="account-buttons">
        <Button type="submit" variant="primary" busy={busy} disabled={name.trim() === ''}>
          {texts.connectAllow}
        </Button>
        <Button onClick={() => void deny()} disabled={busy}>
          {texts.connectDeny}
        </Button>
      </div>
    </form>
  )
}

/** Runs a call, and says why it failed. */
function useAttempt() {
  const texts = useTexts('account')
  const wording = useErrorMessage()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()

  async function run(work: () => Promise<void>): Promise<void> {
    setBusy(true)
    setFailure(undefined)
    try {
      await work()
    } catch (error) {
      const isUnknown = error instanceof CarrelError && error.status === 404
      setFailure(isUnknown ? texts.connectUnknown : wording(error))
      setBusy(false)
    }
  }

  return { busy, failure, run }
}
