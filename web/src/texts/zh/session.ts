import type { Texts } from '../en/index.ts'

export const session: Texts['session'] = {
  title: '登录',
  lead: '您的文件，保留每个版本。',
  keep: '在此设备上保持登录',
  signIn: '登录',
  wrong: '电子邮箱或密码不正确。',
  disabled: '此账户已停用，请联系管理员。',
  tooOften: '尝试次数过多，请稍后再试。',
}
