package io.pushplanet.gateway.fcm;

/// What all workers together send at most to one Firebase project.
public record FcmQuota(int messagesPerMinute) {}
