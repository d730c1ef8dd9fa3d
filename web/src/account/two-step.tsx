import { useQuery, useQueryClient } from '@tanstack/react-query'
import { MonitorCheck } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import {
  addApp,
  endTrust,
  makeRecoveryCodes,
  offerApp,
  removeSecondFactors,
  type SecondFactors,
  useSecondFactors,
} from '../api/index.ts'
import { AppSetup, RecoveryCodes } from '../session/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, Dialog, FormDialog, LoadError, useToast, Waiting } from '../ui/index.ts'
import { useConfirmation } from './use-confirmation.tsx'
import { useSaving } from './use-saving.ts'

/** The authenticator app, the recovery codes, and the devices that need no code. */
export function TwoStep() {
  const texts = useTexts('account')
  const { data, error, refetch } = useSecondFactors()
  const [asked, setAsked] = useState<'app' | 'codes' | 'off'>()
  const [codes, setCodes] = useState<readonly string[]>()
  if (data === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }
  const close = () => setAsked(undefined)
  const isOn = data.totp !== null
  return (
    <section className="card account-card stack">
      <h2>{texts.twoStep}</h2>
      <p className="muted">{texts.twoStepHint}</p>
      <State factors={data} />
      <div className="account-buttons">
        <Button variant={isOn ? 'plain' : 'primary'} onClick={() => setAsked('app')}>
          {isOn ? texts.replaceApp : texts.setUpApp}
        </Button>
        {isOn && <Button onClick={() => setAsked('codes')}>{texts.newCodes}</Button>}
        {isOn && !data.is_required && <Button onClick={() => setAsked('off')}>{texts.turnOff}</Button>}
      </div>
      {data.trusted_devices.length > 0 && <TrustedDevices devices={data.trusted_devices} />}
      {asked === 'app' && <SetUpDialog onCodes={setCodes} onClose={close} />}
      {asked === 'codes' && <NewCodesDialog onCodes={setCodes} onClose={close} />}
      {asked === 'off' && <TurnOffDialog onClose={close} />}
      {codes && <CodesDialog codes={codes} onClose={() => setCodes(undefined)} />}
    </section>
  )
}

function State(props: { factors: SecondFactors }) {
  const texts = useTexts('account')
  const formats = useFormats()
  const { totp, recovery_codes: left, is_required, due_at } = props.factors
  if (totp === null) {
    const isDue = is_required && due_at !== null
    return (
      <p role="status">
        {texts.twoStepOff} {isDue && texts.twoStepDue(formats.date(due_at))}
      </p>
    )
  }
  return (
    <p role="status">
      {texts.twoStepOn(formats.date(totp.created_at))} {texts.codesLeft(left)}
    </p>
  )
}

function TrustedDevices(props: { devices: SecondFactors['trusted_devices'] }) {
  const texts = useTexts('account')
  const formats = useFormats()
  const { busy, failure, save } = useSaving()
  return (
    <>
      <h3>{texts.trustedDevices}</h3>
      <p className="muted">{texts.trustedDevicesHint}</p>
      <ul className="account-list account-trusted" aria-label={texts.trustedDevices}>
        {props.devices.map((device) => {
          const name = device.user_agent || texts.unknownProgram
          return (
            <li key={device.id} className="account-item">
              <MonitorCheck size={22} aria-hidden />
              <div className="account-item-words">
                <span className="account-item-title">
                  <bdi title={name}>{name}</bdi>
                </span>
                <span className="muted account-item-facts">
                  {texts.lastUsed}: {formats.ago(device.last_accessed)} · {device.last_login_ip} ·{' '}
                  {texts.trustedUntil(formats.date(device.expires_at))}
                </span>
              </div>
              <Button
                disabled={busy}
                aria-label={texts.endTrustOf(name)}
                onClick={() => void save(endTrust(device), texts.trustEnded)}
              >
                {texts.endTrust}
              </Button>
            </li>
          )
        })}
      </ul>
      {failure && (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
    </>
  )
}

interface DialogProps {
  readonly onClose: () => void
}

type CodesProps = DialogProps & { onCodes: (codes: readonly string[]) => void }

function SetUpDialog(props: CodesProps) {
  const texts = useTexts('account')
  const session = useTexts('session')
  const { confirmed, field } = useConfirmedChange()
  const [code, setCode] = useState('')
  // One offer for this dialog, also if the window loses the focus in between.
  const { data: offer, error } = useQuery({
    queryKey: ['totp-offer'],
    queryFn: offerApp,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const add = () =>
    confirmed(async (current_password) => {
      const sent = { setup: offer?.setup ?? '', code, current_password }
      props.onCodes((await addApp(sent)).recovery_codes)
    })
  return (
    <FormDialog
      title={texts.setUpApp}
      submit={session.turnOn}
      disabled={offer === undefined || code.trim() === ''}
      onSubmit={add}
      onClose={props.onClose}
    >
      {offer === undefined && (error ? <LoadError error={error} /> : <Waiting />)}
      {offer && <AppSetup offer={offer} code={code} onCode={setCode} />}
      {field}
    </FormDialog>
  )
}

function NewCodesDialog(props: CodesProps) {
  const texts = useTexts('account')
  const { confirmed, field } = useConfirmedChange()
  const make = () =>
    confirmed(async (password) => props.onCodes((await makeRecoveryCodes(password)).recovery_codes))
  return (
    <FormDialog title={texts.newCodes} submit={texts.newCodes} onSubmit={make} onClose={props.onClose}>
      <p>{texts.newCodesText}</p>
      {field}
    </FormDialog>
  )
}

function TurnOffDialog(props: DialogProps) {
  const texts = useTexts('account')
  const toast = useToast()
  const { confirmed, field } = useConfirmedChange()
  const turnOff = async () => {
    await confirmed(removeSecondFactors)
    toast({ text: texts.turnedOff })
  }
  return (
    <FormDialog
      title={texts.turnOffTitle}
      submit={texts.turnOff}
      danger
      onSubmit={turnOff}
      onClose={props.onClose}
    >
      <p>{texts.turnOffText}</p>
      {field}
    </FormDialog>
  )
}

function CodesDialog(props: DialogProps & { codes: readonly string[] }) {
  const texts = useTexts('session')
  const foot = (
    <Button variant="primary" onClick={props.onClose}>
      {texts.recoveryStored}
    </Button>
  )
  return (
    <Dialog title={texts.recoveryTitle} onClose={props.onClose} foot={foot}>
      <RecoveryCodes codes={props.codes} />
    </Dialog>
  )
}

/** A change of the second factors: confirmed, and shown at once. */
function useConfirmedChange(): {
  readonly field: ReactNode
  readonly confirmed: <T>(call: (password: string | undefined) => Promise<T>) => Promise<T>
} {
  const texts = useTexts('account')
  const queries = useQueryClient()
  const { confirmed, field } = useConfirmation(texts.confirmFactorHint)
  return {
    field,
    async confirmed(call) {
      const result = await confirmed(call)
      await queries.invalidateQueries({ queryKey: ['account', 'second-factors'] })
      return result
    },
  }
}
