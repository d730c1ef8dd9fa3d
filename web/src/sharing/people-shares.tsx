import { useQueryClient } from '@tanstack/react-query'
import { Globe } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import {
  addShares,
  changeShare,
  changeShareExpiry,
  endShare,
  type Person,
  patchQuery,
  permissionOf,
  publish,
  type SharedPlace,
  type ShareItem,
  type SharePermission,
  sharesKey,
  unpublish,
  useAccount,
  useSharedOut,
  useShares,
} from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Avatar, Button, LoadError, useAction, Waiting } from '../ui/index.ts'
import { expiryOf } from './link-draft.ts'
import { PeopleField } from './people-field.tsx'
import { PermissionSelect } from './permission-select.tsx'
import { ExpiryField, hasExpiry, noExpiry } from './share-expiry.tsx'
import { ShareFailures, ShareRow } from './share-rows.tsx'

/** Shares of a folder with people, and with everyone. */
export function PeopleShares(props: { place: SharedPlace; owner: string; isOwner: boolean }) {
  const { place } = props
  const texts = useTexts('sharing')
  const shares = useShares(place, true)
  const items = (shares.data ?? []).filter(({ share_type }) => share_type === 'user')
  const { change, expire, remove } = useShareActions(place)
  return (
    <>
      <AddPeople
        place={place}
        without={[props.owner, ...items.map(({ user_info }) => user_info?.name ?? '')]}
      />
      <h3>{texts.sharedWith}</h3>
      {shares.isPending && <Waiting />}
      {shares.isError && <LoadError error={shares.error} onRetry={() => void shares.refetch()} />}
      {shares.isSuccess && items.length === 0 && <p className="muted">{texts.sharedWithNobody}</p>}
      <ul className="sharing-rows">
        {props.isOwner && place.path === '/' && <Everyone libraryId={place.libraryId} />}
        {items.map((share) => (
          <ShareRow
            key={share.user_info?.name}
            icon={
              <Avatar
                email={share.user_info?.name ?? ''}
                name={share.user_info?.nickname}
                url={share.user_info?.avatar_url}
                size={32}
              />
            }
            name={share.user_info?.nickname ?? ''}
            about={share.user_info?.name}
            permission={permissionOf(share)}
            {...(place.isFile && { withoutAdmin: true })}
            onChange={(permission) => change(share, permission)}
            expiring={{ share, onChange: (expires) => expire(share, expires) }}
            onRemove={() => remove(share)}
          />
        ))}
      </ul>
    </>
  )
}

/** Changes shares with optimistic updates. Failures are rolled back and reported. */
export function useShareActions(place: SharedPlace) {
  const queries = useQueryClient()
  const act = useAction('shares')
  const show = (update: (items: ShareItem[]) => ShareItem[]) =>
    patchQuery<ShareItem[]>(queries, sharesKey(place), update)
  return {
    change: (share: ShareItem, permission: SharePermission) => {
      const right = { permission: permission === 'r' ? 'r' : 'rw', is_admin: permission === 'admin' } as const
      show((items) => items.map((one) => (one === share ? { ...one, ...right } : one)))
      void act(() => changeShare(place, share, permission))
    },
    expire: (share: ShareItem, expires: string) => {
      const { expire_date: _, is_expired: __, ...rest } = share
      const shown = expires === '' ? rest : { ...rest, expire_date: expires, is_expired: false }
      show((items) => items.map((one) => (one === share ? shown : one)))
      void act(() => changeShareExpiry(place, share, expires))
    },
    remove: (share: ShareItem) => {
      show((items) => items.filter((one) => one !== share))
      void act(() => endShare(place, share))
    },
  }
}

function AddPeople(props: { place: SharedPlace; without: readonly string[] }) {
  const texts = useTexts('sharing')
  const act = useAction('shares')
  const [people, setPeople] = useState<readonly Person[]>([])
  const [permission, setPermission] = useState<SharePermission>('r')
  const [expiry, setExpiry] = useState(noExpiry)
  const [failed, setFailed] = useState<readonly { name: string; reason: string }[]>([])
  const [busy, setBusy] = useState(false)
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    await act(async () => {
      const to = people.map(({ email }) => email)
      const outcome = await addShares(props.place, {
        type: 'user',
        to,
        permission,
        expires: expiryOf(expiry),
      })
      setPeople([])
      setFailed(outcome.failed.map(({ email = '', error_msg }) => ({ name: email, reason: error_msg })))
    })
    setBusy(false)
  }
  return (
    <form className="sharing-add" onSubmit={(event) => void submit(event)}>
      <PeopleField label={texts.addPeople} chosen={people} onChange={setPeople} without={props.without} />
      <PermissionSelect
        value={permission}
        onChange={setPermission}
        {...(props.place.isFile && { withoutAdmin: true })}
      />
      <ExpiryField value={expiry} onChange={setExpiry} />
      <Button
        type="submit"
        variant="primary"
        busy={busy}
        disabled={people.length === 0 || !hasExpiry(expiry)}
      >
        {texts.shareNow}
      </Button>
      <ShareFailures failed={failed} />
    </form>
  )
}

/** Only administrators may start sharing with everyone. The owner of the library may always end it. */
function Everyone(props: { libraryId: string }) {
  const texts = useTexts('sharing')
  const { data: account } = useAccount()
  const { data: out } = useSharedOut()
  const act = useAction('shares', 'libraries')
  const share = out?.find(
    ({ repo_id, share_type, path }) =>
      share_type === 'public' && repo_id === props.libraryId && path === undefined,
  )
  const icon = (
    <span className="sharing-sign">
      <Globe size={18} aria-hidden />
    </span>
  )
  if (share !== undefined) {
    return (
      <ShareRow
        icon={icon}
        name={texts.everyone}
        about={texts.everyoneHint}
        permission={permissionOf({ permission: share.share_permission, is_admin: false })}
        withoutAdmin
        onChange={(permission) => void act(() => publish(props.libraryId, permission))}
        onRemove={() => void act(() => unpublish(props.libraryId))}
      />
    )
  }
  if (out === undefined || !account?.is_staff) return null
  return (
    <li className="sharing-row">
      {icon}
      <span className="sharing-names">
        {texts.everyone}
        <span className="muted">{texts.everyoneHint}</span>
      </span>
      <Button onClick={() => void act(() => publish(props.libraryId, 'r'))}>{texts.shareWithEveryone}</Button>
    </li>
  )
}
