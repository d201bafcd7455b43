/** Path prefix of the Partner API. */
export const PARTNER_PREFIX = '/api/partner/v1';
