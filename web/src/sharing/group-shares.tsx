import { Users } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import {
  addShares,
  permissionOf,
  type SharedPlace,
  type SharePermission,
  useGroups,
  useShares,
} from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, ButtonLink, LoadError, SelectField, useAction, Waiting } from '../ui/index.ts'
import { expiryOf } from './link-draft.ts'
import { useShareActions } from './people-shares.tsx'
import { PermissionSelect } from './permission-select.tsx'
import { ExpiryField, hasExpiry, noExpiry } from './share-expiry.tsx'
import { ShareFailures, ShareRow } from './share-rows.tsx'

/** Shares of a folder with groups. */
export function GroupShares(props: { place: SharedPlace }) {
  const texts = useTexts('sharing')
  const shares = useShares(props.place, true)
  const items = (shares.data ?? []).filter(({ share_type }) => share_type === 'group')
  const { change, expire, remove } = useShareActions(props.place)
  return (
    <>
      <AddGroup place={props.place} without={items.map(({ group_info }) => group_info?.id ?? 0)} />
      <h3>{texts.sharedWith}</h3>
      {shares.isPending && <Waiting />}
      {shares.isError && <LoadError error={shares.error} onRetry={() => void shares.refetch()} />}
      {shares.isSuccess && items.length === 0 && <p className="muted">{texts.sharedWithNoGroup}</p>}
      <ul className="sharing-rows">
        {items.map((share) => (
          <ShareRow
            key={share.group_info?.id}
            icon={
              <span className="sharing-sign">
                <Users size={18} aria-hidden />
              </span>
            }
            name={share.group_info?.name ?? ''}
            permission={permissionOf(share)}
            {...(props.place.isFile && { withoutAdmin: true })}
            onChange={(permission) => change(share, permission)}
            expiring={{ share, onChange: (expires) => expire(share, expires) }}
            onRemove={() => remove(share)}
          />
        ))}
      </ul>
    </>
  )
}

function AddGroup(props: { place: SharedPlace; without: readonly number[] }) {
  const texts = useTexts('sharing')
  const act = useAction('shares', 'groups')
  const groups = useGroups()
  const [chosen, setChosen] = useState('')
  const [permission, setPermission] = useState<SharePermission>('r')
  const [expiry, setExpiry] = useState(noExpiry)
  const [failed, setFailed] = useState<readonly { name: string; reason: string }[]>([])
  const [busy, setBusy] = useState(false)
  const left = (groups.data ?? []).filter(({ id }) => !props.without.includes(id))
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    await act(async () => {
      const expires = expiryOf(expiry)
      const outcome = await addShares(props.place, { type: 'group', to: [chosen], permission, expires })
      setChosen('')
      setFailed(outcome.failed.map(({ group_name: name = '', error_msg: reason }) => ({ name, reason })))
    })
    setBusy(false)
  }
  if (groups.isSuccess && groups.data.length === 0) {
    return (
      <p className="sharing-none">
        <span className="muted">{texts.noGroups}</span>
        <ButtonLink to="/groups">{texts.toGroups}</ButtonLink>
      </p>
    )
  }
  return (
    <form className="sharing-add" onSubmit={(event) => void submit(event)}>
      <SelectField label={texts.addGroup} value={chosen} onChange={(event) => setChosen(event.target.value)}>
        <option value="">{left.length === 0 ? texts.noGroupLeft : texts.chooseGroup}</option>
        {left.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <PermissionSelect
        value={permission}
        onChange={setPermission}
        {...(props.place.isFile && { withoutAdmin: true })}
      />
      <ExpiryField value={expiry} onChange={setExpiry} />
      <Button type="submit" variant="primary" busy={busy} disabled={chosen === '' || !hasExpiry(expiry)}>
        {texts.shareNow}
      </Button>
      <ShareFailures failed={failed} />
    </form>
  )
}
