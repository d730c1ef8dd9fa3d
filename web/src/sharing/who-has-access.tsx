import './sharing.css'
import { Globe, Link as LinkIcon, Users } from 'lucide-react'
import type { ReactNode } from 'react'
import {
  type LinkItem,
  permissionOf,
  type SharedPlace,
  type ShareItem,
  useLibraryLinks,
  useMembers,
  useSharedOut,
  useShares,
} from '../api/index.ts'
import { ancestorsOf, normalizePath } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { Avatar } from '../ui/index.ts'

/** The item, and the owner of its library. */
interface Asked {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
  readonly isDir: boolean
  readonly owner: { readonly email: string; readonly name: string }
}

/** Who can see an item, and by which share of it or of a folder above. For those who manage the library. */
export default function WhoHasAccess(props: Asked) {
  const { libraryId, libraryName, path, isDir, owner } = props
  const texts = useTexts('sharing')
  const places = [{ name: libraryName, path: '/' }, ...ancestorsOf(path)].toReversed()
  return (
    <ul className="sharing-rows">
      <Reader icon={<Avatar email={owner.email} name={owner.name} size={28} />} name={owner.name}>
        {texts.ownsLibrary}
      </Reader>
      {places.map((place) => {
        const isFile = place.path === path && !isDir
        const why = place.path === path ? texts.becauseItself : texts.becauseOf(place.name)
        return (
          <SharesAt
            key={place.path}
            place={{ libraryId, path: place.path, ...(isFile && { isFile }) }}
            why={why}
          />
        )
      })}
      <EveryoneRow
        libraryId={libraryId}
        why={path === '/' ? texts.becauseItself : texts.becauseOf(libraryName)}
      />
      <LinksTo {...props} />
    </ul>
  )
}

function SharesAt(props: { place: SharedPlace; why: string }) {
  const { place, why } = props
  const { data } = useShares(place, true)
  return (data ?? [])
    .filter(({ is_expired }) => !is_expired)
    .map((share) => (
      <ShareReader key={`${share.user_info?.name} ${share.group_info?.id}`} share={share} why={why} />
    ))
}

function ShareReader(props: { share: ShareItem; why: string }) {
  const { share, why } = props
  const texts = useTexts('sharing')
  const right = texts.permissions[permissionOf(share)]
  if (share.group_info !== undefined) {
    return (
      <Reader icon={<Sign of={Users} />} name={share.group_info.name}>
        {right} · {why}
        <MemberNames id={share.group_info.id} />
      </Reader>
    )
  }
  const person = share.user_info
  return (
    <Reader
      icon={<Avatar email={person?.name ?? ''} name={person?.nickname} url={person?.avatar_url} size={28} />}
      name={person?.nickname ?? ''}
    >
      {right} · {why}
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

function EveryoneRow(props: { libraryId: string; why: string }) {
  const texts = useTexts('sharing')
  const { data } = useSharedOut()
  const share = data?.find(
    ({ repo_id, share_type, path }) =>
      share_type === 'public' && repo_id === props.libraryId && path === undefined,
  )
  if (share === undefined) return null
  return (
    <Reader icon={<Sign of={Globe} />} name={texts.everyone}>
      {texts.permissions[share.share_permission]} · {props.why}
    </Reader>
  )
}

function LinksTo(props: Asked) {
  const texts = useTexts('sharing')
  const { data } = useLibraryLinks('share', props.libraryId)
  const opens = ({ path, is_expired, is_active }: LinkItem) => {
    const target = normalizePath(path)
    const isAbove = target === '/' || props.path === target || props.path.startsWith(`${target}/`)
    return isAbove && !is_expired && is_active
  }
  return (data ?? []).filter(opens).map((link) => {
    const target = normalizePath(link.path)
    const why = target === props.path ? texts.becauseItself : texts.becauseOf(link.obj_name || target)
    return (
      <Reader key={link.token} icon={<Sign of={LinkIcon} />} name={texts.anyoneWithLink}>
        {why}
      </Reader>
    )
  })
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
