import './sharing.css'
import { Globe, Link as LinkIcon, Upload, Users } from 'lucide-react'
import type { ReactNode } from 'react'
import { permissionOf, useAccessList, useMembers } from '../api/index.ts'
import { nameOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Avatar, LoadError, Waiting } from '../ui/index.ts'

interface Asked {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
}

type AccessList = NonNullable<ReturnType<typeof useAccessList>['data']>
type SharedAccess = AccessList['shares'][number]
type LinkAccess = AccessList['links'][number]

/**
 * Who can see an item: its owner, and all shares and links on it, on folders above, and on what is in it, with how and since when. For
 * those who manage its shares.
 */
export default function WhoHasAccess(props: Asked) {
  const texts = useTexts('sharing')
  const { data, error, refetch } = useAccessList(props.libraryId, props.path)
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Waiting />
  const whole = (one: { relation: string }) => one.relation !== 'below'
  const parts = (one: { relation: string }) => one.relation === 'below'
  const hasParts = data.shares.some(parts) || data.links.some(parts)
  const rows = (wanted: (one: { relation: string }) => boolean) => (
    <>
      {data.shares.filter(wanted).map((share) => (
        <ShareReader key={`${share.path} ${share.user_email} ${share.group_id}`} share={share} {...props} />
      ))}
      {data.links.filter(wanted).map((link, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of links are not told here.
        <LinkReader key={index} link={link} {...props} />
      ))}
    </>
  )
  return (
    <div className="stack">
      <ul className="sharing-rows">
        <Reader
          icon={<Avatar email={data.owner.email} name={data.owner.name} size={28} />}
          name={data.owner.name}
        >
          {texts.ownsLibrary}
        </Reader>
        {rows(whole)}
      </ul>
      {data.shares.length + data.links.length === 0 && <p className="muted">{texts.accessNobody}</p>}
      {hasParts && (
        <section>
          <h3>{texts.accessBelow}</h3>
          <ul className="sharing-rows">{rows(parts)}</ul>
        </section>
      )}
      {data.is_cut && <p className="muted">{texts.accessCut}</p>}
    </div>
  )
}

/** By which item a share or a link grants access: this one, a folder above, or something in it. */
function useReason(asked: Asked): (one: { path: string; relation: string }) => string {
  const texts = useTexts('sharing')
  return ({ path, relation }) => {
    if (relation === 'here') return texts.becauseItself
    if (relation === 'below') return path.slice(asked.path === '/' ? 1 : asked.path.length + 1)
    return texts.becauseOf(path === '/' ? asked.libraryName : nameOf(path))
  }
}

/** Since when and until when. */
function useTimes(): (one: { since: string; expire_date?: string | undefined }, by: string) => string {
  const texts = useTexts('sharing')
  const formats = useFormats()
  return ({ since, expire_date }, by) =>
    [
      texts.accessSince(formats.date(since), by),
      ...(expire_date === undefined ? [] : [texts.accessUntil(formats.moment(expire_date))]),
    ].join(', ')
}

function ShareReader(props: Asked & { share: SharedAccess }) {
  const { share } = props
  const texts = useTexts('sharing')
  const why = useReason(props)
  const times = useTimes()
  const details = (
    <>
      <span>
        {texts.permissions[permissionOf(share)]} · <bdi>{why(share)}</bdi>
        {share.is_held && ` · ${texts.accessHeld}`}
      </span>
      <span>{times(share, share.giver_name)}</span>
    </>
  )
  if (share.share_type === 'group') {
    return (
      <Reader icon={<Sign of={Users} />} name={share.group_name ?? ''}>
        {details}
        <MemberNames id={share.group_id ?? 0} />
      </Reader>
    )
  }
  if (share.share_type === 'public') {
    return (
      <Reader icon={<Sign of={Globe} />} name={texts.everyone}>
        {details}
      </Reader>
    )
  }
  const name = share.user_name ?? ''
  return (
    <Reader icon={<Avatar email={share.user_email ?? ''} name={name} size={28} />} name={name}>
      {details}
    </Reader>
  )
}

/** The members of a group. Nothing for a group that the user is not in. */
function MemberNames(props: { id: number }) {
  const texts = useTexts('sharing')
  const { data } = useMembers(props.id)
  if (data === undefined) return null
  const names = data.pages.flat().map(({ name }) => name)
  return (
    <span className="sharing-members">
      {texts.members}: <bdi>{names.join(', ')}</bdi>
    </span>
  )
}

function LinkReader(props: Asked & { link: LinkAccess }) {
  const { link } = props
  const texts = useTexts('sharing')
  const why = useReason(props)
  const times = useTimes()
  const everybody = link.type === 'upload' ? texts.accessUpload : texts.anyoneWithLink
  return (
    <Reader
      icon={<Sign of={link.type === 'upload' ? Upload : LinkIcon} />}
      name={link.scope === 'all_users' ? everybody : texts.accessNamed}
    >
      <span>
        <bdi>{why(link)}</bdi>
        {link.has_password && ` · ${texts.accessPassword}`}
      </span>
      <span>{times(link, link.creator_name)}</span>
    </Reader>
  )
}

function Sign(props: { of: typeof Users }) {
  return (
    <span className="sharing-sign">
      <props.of size={16} aria-hidden />
    </span>
  )
}

function Reader(props: { icon: ReactNode; name: string; children: ReactNode }) {
  return (
    <li className="sharing-row">
      {props.icon}
      <span className="sharing-names sharing-reader">
        <bdi title={props.name}>{props.name}</bdi>
        <span className="muted">{props.children}</span>
      </span>
    </li>
  )
}
