import {
  EllipsisVertical,
  Eye,
  EyeOff,
  Link2,
  Link2Off,
  Mail,
  Pencil,
  QrCode as QrIcon,
  Trash2,
} from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { changeLink, deleteLink, type LinkItem, type LinkKind, sendsMail } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { ConfirmDialog, CopyButton, IconButton, Menu, QrCode, useAction } from '../ui/index.ts'
import { EditLink } from './edit-link.tsx'
import { nameOfRights } from './link-draft.ts'
import { MailLink } from './mail-link.tsx'

/** One link with its actions. `head` shows the target, where it is not obvious. */
export function LinkCard(props: {
  kind: LinkKind
  link: LinkItem
  isDir: boolean
  mayWrite: boolean
  head?: ReactNode
  more?: readonly { label: string; icon: typeof Pencil; onSelect: () => void }[]
  open?: boolean
}) {
  const { kind, link } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const act = useAction('links', 'shares')
  const [showsQr, setShowsQr] = useState(false)
  const [asked, setAsked] = useState<'edit' | 'mail' | 'delete'>()
  const close = () => setAsked(undefined)
  const turn = () => void act(() => changeLink(kind, link.token, { active: !link.is_active }), switchedText())
  const switchedText = () => (link.is_active ? texts.switchedOff : texts.switchedOn)
  return (
    <li
      className={`sharing-card${link.is_active && !link.is_expired && link.is_valid ? '' : ' sharing-card-off'}`}
    >
      {props.head}
      <div className="sharing-link">
        <input
          className="input"
          readOnly
          value={link.link}
          aria-label={texts.linkAddress}
          onFocus={(event) => event.target.select()}
        />
        <CopyButton text={link.link} primary={props.open === true} />
        <IconButton
          label={showsQr ? texts.hideQr : texts.showQr}
          icon={QrIcon}
          aria-pressed={showsQr}
          onClick={() => setShowsQr(!showsQr)}
        />
        <Menu
          trigger={<IconButton label={common.more} icon={EllipsisVertical} />}
          entries={[
            ...(props.more ?? []),
            ...(sendsMail() ? [{ label: texts.mailLink, icon: Mail, onSelect: () => setAsked('mail') }] : []),
            { label: texts.editLink, icon: Pencil, onSelect: () => setAsked('edit') },
            {
              label: link.is_active ? texts.switchOff : texts.switchOn,
              icon: link.is_active ? Link2Off : Link2,
              onSelect: turn,
            },
            'line',
            { label: common.delete, icon: Trash2, danger: true, onSelect: () => setAsked('delete') },
          ]}
        />
      </div>
      {showsQr && <QrCode text={link.link} label={texts.qrOf(link.link)} />}
      <LinkFacts kind={kind} link={link} />
      {link.password !== '' && <Password password={link.password} />}
      {asked === 'edit' && (
        <EditLink kind={kind} link={link} isDir={props.isDir} mayWrite={props.mayWrite} onClose={close} />
      )}
      {asked === 'mail' && <MailLink kind={kind} link={link} onClose={close} />}
      {asked === 'delete' && (
        <ConfirmDialog
          title={texts.deleteLink}
          text={texts.deleteLinkHint}
          submit={common.delete}
          onConfirm={() => act(() => deleteLink(kind, link.token), texts.linkDeleted)}
          onClose={close}
        />
      )}
    </li>
  )
}

function LinkFacts(props: { kind: LinkKind; link: LinkItem }) {
  const { kind, link } = props
  const texts = useTexts('sharing')
  const formats = useFormats()
  return (
    <div className="sharing-facts">
      {!link.is_valid && <span className="badge badge-warn">{texts.targetGone}</span>}
      {!link.is_active && <span className="badge badge-warn">{texts.isOff}</span>}
      {link.is_expired && <span className="badge badge-warn">{texts.hasEnded}</span>}
      {kind === 'share' && (
        <span className="badge badge-accent">{texts.rightsNames[nameOfRights(link.permissions)]}</span>
      )}
      {link.request && <span className="badge badge-accent">{texts.fileRequest}</span>}
      {link.request && link.request.files.length > 0 && (
        <span className="badge">{texts.wantedCount(link.request.files.length)}</span>
      )}
      {link.request && link.request.deadline !== '' && <Deadline at={link.request.deadline} />}
      {link.expire_date !== '' && !link.is_expired && (
        <span className="badge">{texts.endsAt(formats.date(link.expire_date))}</span>
      )}
      <span className="badge">{texts.views(link.view_cnt)}</span>
      {link.request && link.request.heading !== '' && <bdi>{link.request.heading}</bdi>}
      {link.description !== '' && <bdi className="muted">{link.description}</bdi>}
    </div>
  )
}

/** Until when a file request accepts files. */
function Deadline({ at }: { at: string }) {
  const texts = useTexts('sharing')
  const formats = useFormats()
  return Date.parse(at) > Date.now() ? (
    <span className="badge">{texts.acceptsUntil(formats.date(at))}</span>
  ) : (
    <span className="badge badge-warn">{texts.deadlinePassed}</span>
  )
}

function Password(props: { password: string }) {
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const [shown, setShown] = useState(false)
  return (
    <div className="sharing-secret">
      <span className="muted">{common.password}</span>
      <code>{shown ? props.password : '••••••••'}</code>
      <IconButton
        label={shown ? common.hidePassword : common.showPassword}
        icon={shown ? EyeOff : Eye}
        onClick={() => setShown(!shown)}
      />
      <CopyButton text={props.password} label={texts.copyPassword} />
    </div>
  )
}
