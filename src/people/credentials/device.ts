/** The operating system of a client. */
export type Platform = 'windows' | 'linux' | 'mac' | 'android' | 'ios'

/** The device of a client. It has an API token of its own. */
export interface Device {
  readonly platform: Platform
  readonly deviceId: string
  readonly deviceName: string
  readonly clientVersion: string
  readonly platformVersion: string
}

/** Device information as sent by a client. */
export interface DeviceFields {
  readonly platform?: string | undefined
  readonly deviceId?: string | undefined
  readonly deviceName?: string | undefined
  readonly clientVersion?: string | undefined
  readonly platformVersion?: string | undefined
}

const deviceIdShapes: Record<Platform, RegExp> = {
  windows: /^[\x21-\x7e]{40}$/,
  linux: /^[\x21-\x7e]{40}$/,
  mac: /^[\x21-\x7e]{40}$/,
  android: /^[0-9a-f]{1,16}$/i,
  ios: /^[\x21-\x7e]{36}$/,
}

const longestDeviceName = 40
const longestVersion = 64

export const platforms: readonly Platform[] = ['windows', 'linux', 'mac', 'android', 'ios']

/** Whether all, some or none of platform, device id and device name were given. A device needs all three. */
export function deviceFieldsGiven(fields: DeviceFields): 'all' | 'some' | 'none' {
  const given = [fields.platform, fields.deviceId, fields.deviceName].filter(Boolean).length
  if (given === 0) return 'none'
  return given === 3 ? 'all' : 'some'
}

/** The device, or which field is invalid. */
export function parseDevice(fields: DeviceFields): Device | 'invalid-platform' | 'invalid-device-id' {
  const { platform = '', deviceId = '' } = fields
  if (!isPlatform(platform)) return 'invalid-platform'
  if (!deviceIdShapes[platform].test(deviceId)) return 'invalid-device-id'
  return {
    platform,
    deviceId,
    deviceName: cut(fields.deviceName, longestDeviceName),
    clientVersion: cut(fields.clientVersion, longestVersion),
    platformVersion: cut(fields.platformVersion, longestVersion),
  }
}

export function isPlatform(text: string): text is Platform {
  return Object.hasOwn(deviceIdShapes, text)
}

export function isDesktop(platform: Platform): boolean {
  return platform === 'windows' || platform === 'linux' || platform === 'mac'
}

/** The first characters of a text, without characters that a database or a terminal cannot handle. */
export function cut(text: string | undefined, length: number): string {
  const clean = (text ?? '').toWellFormed().replace(/\p{Cc}/gu, '')
  return Array.from(clean).slice(0, length).join('')
}
