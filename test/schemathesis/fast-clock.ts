/**
 * Loaded before a program (`node --import`): its wall clock goes 60 times as fast. A limit for a minute is then one for a
 * second, and its requests come as fast as they can.
 */
const TIMES = 60;
const now = Date.now.bind(Date);
const begun = now();

Date.now = () => begun + (now() - begun) * TIMES;
