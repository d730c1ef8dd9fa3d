import { EllipsisVertical, Eraser, Laptop, Smartphone, Unplug } from 'lucide-react'
import { useState } from 'react'
import { type AdminDevice, unlinkAnyDevice, useAdminDevices } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { ConfirmDialog, IconButton, Menu, useAction } from '../ui/index.ts'
import { Named, PagedTable } from './paged-table.tsx'

/** Devices of all accounts. */
export function Devices() {
  const texts = useTexts('admin')
  const formats = useFormats()
  const [platform, setPlatform] = useState('')
  const devices = useAdminDevices(platform)
  return (
    <>
      <div className="sharing-tools">
        <select
          className="input admin-choice"
          aria-label={texts.deviceKind}
          value={platform}
          onChange={(event) => setPlatform(event.target.value)}
        >
          <option value="">{texts.allDevices}</option>
          <option value="desktop">{texts.desktops}</option>
          <option value="mobile">{texts.mobiles}</option>
        </select>
      </div>
      <PagedTable
        label={texts.sections.devices}
        query={devices}
        keyOf={({ user, platform, device_id }) => `${user} ${platform} ${device_id}`}
        empty={{ icon: Laptop, title: texts.noDevices, hint: texts.noDevicesHint }}
        columns={[
          {
            head: texts.device,
            cell: (device) => (
              <Named
                icon={
                  device.is_desktop_client ? (
                    <Laptop size={20} aria-hidden />
                  ) : (
                    <Smartphone size={20} aria-hidden />
                  )
                }
                name={device.device_name}
                title={`${device.platform} ${device.client_version}`}
                about={<bdi>{device.user}</bdi>}
                narrow={device.last_login_ip}
              />
            ),
          },
          { head: texts.address, cell: ({ last_login_ip }) => last_login_ip, wide: true },
          {
            head: texts.lastUsed,
            cell: ({ last_accessed, wiped_at }) =>
              wiped_at === null ? (
                formats.when(last_accessed)
              ) : (
                <span className="badge badge-warn">{texts.wiped}</span>
              ),
          },
        ]}
        actions={(device) => <DeviceMenu device={device} />}
      />
    </>
  )
}

function DeviceMenu(props: { device: AdminDevice }) {
  const { device } = props
  const texts = useTexts('admin')
  const act = useAction('admin')
  const [asked, setAsked] = useState<'unlink' | 'wipe'>()
  return (
    <>
      <Menu
        trigger={<IconButton label={texts.moreAbout(device.device_name)} icon={EllipsisVertical} />}
        entries={[
          { label: texts.unlink, icon: Unplug, onSelect: () => setAsked('unlink') },
          device.is_desktop_client && {
            label: texts.wipe,
            icon: Eraser,
            danger: true,
            onSelect: () => setAsked('wipe'),
          },
        ]}
      />
      {asked && (
        <ConfirmDialog
          title={texts[asked]}
          text={asked === 'wipe' ? texts.wipeHint(device.device_name) : texts.unlinkHint(device.device_name)}
          submit={texts[asked]}
          onConfirm={() => act(() => unlinkAnyDevice(device, asked === 'wipe'), texts.unlinked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}
