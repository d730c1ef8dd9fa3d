import { useQueryClient } from '@tanstack/react-query'
import { Globe, Laptop, LogOut, MonitorSmartphone, Smartphone, Unlink } from 'lucide-react'
import { useState } from 'react'
import { type Device, unlinkDevice, useDevices } from '../api/index.ts'
import { signOut } from '../session/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, CheckField, Empty, FormDialog, LoadError, useToast, Waiting } from '../ui/index.ts'

/** Client version that browsers running this app send. */
const isBrowser = ({ client_version }: Device) => client_version === 'web'

/** Devices that are signed in to the account. */
export function Devices() {
  const texts = useTexts('account')
  const { data, error, refetch } = useDevices()
  const [unlinked, setUnlinked] = useState<Device>()
  if (data === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }
  if (data.length === 0) {
    return <Empty icon={MonitorSmartphone} title={texts.noDevices} hint={texts.noDevicesHint} />
  }
  const devices = data.toSorted((a, b) => Number(b.is_current) - Number(a.is_current))
  return (
    <section className="stack">
      <p className="muted">{texts.devicesHint}</p>
      <ul className="card account-list" aria-label={texts.devices}>
        {devices.map((device) => (
          <DeviceItem
            key={`${device.platform} ${device.device_id}`}
            device={device}
            onUnlink={() => setUnlinked(device)}
          />
        ))}
      </ul>
      {unlinked && <UnlinkDialog device={unlinked} onClose={() => setUnlinked(undefined)} />}
    </section>
  )
}

function DeviceItem(props: { device: Device; onUnlink: () => void }) {
  const { device } = props
  const texts = useTexts('account')
  const formats = useFormats()
  const Icon = isBrowser(device) ? Globe : device.is_desktop_client ? Laptop : Smartphone
  const kind = isBrowser(device)
    ? texts.browser
    : `${texts.platforms[device.platform]} ${device.client_version}`
  return (
    <li className="account-item">
      <Icon size={22} aria-hidden />
      <div className="account-item-words">
        <span className="account-item-title">
          <bdi title={device.device_name}>{device.device_name}</bdi>
          {device.is_current && <span className="badge badge-accent">{texts.thisDevice}</span>}
          {device.wiped_at !== null && <span className="badge badge-warn">{texts.toBeWiped}</span>}
        </span>
        <span className="muted account-item-facts">
          {kind.trim()}
          {' · '}
          <time dateTime={device.last_accessed} title={formats.moment(device.last_accessed)}>
            {texts.lastUsed}: {formats.ago(device.last_accessed)}
          </time>
          {device.last_login_ip !== '' && ` · ${device.last_login_ip}`}
        </span>
      </div>
      {device.is_current ? (
        <Button icon={LogOut} onClick={() => void signOut()}>
          {texts.signOut}
        </Button>
      ) : (
        <Button icon={Unlink} aria-label={texts.unlinkOf(device.device_name)} onClick={props.onUnlink}>
          {texts.unlink}
        </Button>
      )}
    </li>
  )
}

function UnlinkDialog(props: { device: Device; onClose: () => void }) {
  const { device } = props
  const texts = useTexts('account')
  const queries = useQueryClient()
  const toast = useToast()
  const [wipe, setWipe] = useState(false)

  async function unlink(): Promise<void> {
    await unlinkDevice(device, wipe)
    await queries.invalidateQueries({ queryKey: ['account', 'devices'] })
    toast({ text: texts.unlinked(device.device_name) })
  }

  return (
    <FormDialog
      title={texts.unlinkTitle}
      submit={texts.unlink}
      danger
      onSubmit={unlink}
      onClose={props.onClose}
    >
      <p className="account-asked">
        <bdi>{device.device_name}</bdi>
      </p>
      <p className="muted">{texts.unlinkText}</p>
      {!isBrowser(device) && (
        <CheckField
          label={
            <>
              {texts.wipe}
              <span className="field-hint account-check-hint">{texts.wipeHint}</span>
            </>
          }
          checked={wipe}
          onChange={(event) => setWipe(event.target.checked)}
        />
      )}
    </FormDialog>
  )
}
