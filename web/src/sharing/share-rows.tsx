import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { errorForStatus, type ShareItem, type SharePermission } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { IconButton, useErrorMessage } from '../ui/index.ts'
import { PermissionSelect } from './permission-select.tsx'
import { ShareExpiry } from './share-expiry.tsx'

/** One share: recipient, permission, expiry and a button to end it. */
export function ShareRow(props: {
  icon: ReactNode
  name: string
  about?: string | undefined
  permission: SharePermission
  withoutAdmin?: boolean
  onChange: (permission: SharePermission) => void
  onRemove: () => void
  /** The share whose expiry can be changed here. */
  expiring?: { readonly share: ShareItem; readonly onChange: (expires: string) => void }
}) {
  const texts = useTexts('sharing')
  return (
    <li className="sharing-row">
      {props.icon}
      <span className="sharing-names">
        <bdi title={props.name}>{props.name}</bdi>
        {props.about && <bdi className="muted">{props.about}</bdi>}
      </span>
      <PermissionSelect
        name={props.name}
        value={props.permission}
        onChange={props.onChange}
        {...(props.withoutAdmin && { withoutAdmin: true })}
      />
      {props.expiring && <ShareExpiry name={props.name} {...props.expiring} />}
      <IconButton label={texts.unshare(props.name)} icon={X} onClick={props.onRemove} />
    </li>
  )
}

/** Recipients that failed, with the server's messages. */
export function ShareFailures(props: { failed: readonly { name: string; reason: string }[] }) {
  const wording = useErrorMessage()
  if (props.failed.length === 0) return null
  return (
    <div className="sharing-failures" role="alert">
      <ul>
        {props.failed.map(({ name, reason }) => (
          <li key={name}>
            <bdi>{name}</bdi>: {wording(errorForStatus(400, reason))}
          </li>
        ))}
      </ul>
    </div>
  )
}
